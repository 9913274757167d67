"""The core of the package, with an import of anything else refused; see ``core_alone.py``."""

import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent


def test_the_core_does_its_work_without_the_packages_of_the_extras(tmp_path):
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    command = [sys.executable, HERE / "core_alone.py", *project["dependencies"]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    refused = [line for line in done.stderr.splitlines() if "kronbench: error:" in line]
    extras = [line.partition("pip install 'kronbench[")[2].rstrip("]'") for line in refused]
    assert extras == ["suite", "suite", "parquet", "chem", "suite"], refused
