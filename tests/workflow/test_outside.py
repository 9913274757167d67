"""A package outside the repository, installed in a fresh environment, stands in table-6."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from kronbench.datasets import Dataset
from kronbench.evaluation import roc_auc
from kronbench.papers.airola.measure.method_comparison import splits
from kronbench.runner.items import load_plan
from tests.helpers import ROOT, WITHOUT_PACKAGE, copy_checkout
from tests.reference.test_run_with import SOLVER

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(900)]


def tables():
    """Pairs, rows and cols of 40 x 30 vertices, as texts."""
    rng = np.random.default_rng(0)
    rows, cols = rng.standard_normal((40, 3)), rng.standard_normal((30, 2))
    scores = rows[:, :1] + cols[:, 0] + rng.standard_normal((40, 30))
    labels = pd.DataFrame((scores > 0).astype(int)).stack()
    return {
        "pairs.csv": labels.to_csv(index_label=["row", "col"], header=["label"]),
        "rows.csv": pd.DataFrame(rows).to_csv(),
        "cols.csv": pd.DataFrame(cols).to_csv(),
    }


def write_wheel(path):
    """A wheel with one solver and one data set."""
    entry = {
        "title": "Pairs of the package",
        "loader": "pairs",
        "files": {name: {"mirror": f"{name}.csv"} for name in ("pairs", "rows", "cols")},
        "licence": "none",
        "citation": "nobody",
    }
    files = {
        "outside_package/__init__.py": SOLVER.format(name="Additive"),
        "outside_package/registry.yaml": yaml.safe_dump({"Toy": entry}),
        **{f"outside_package/{name}": text for name, text in tables().items()},
    }
    about = "outside_package-1.0.dist-info"
    files[f"{about}/METADATA"] = "Metadata-Version: 2.1\nName: outside-package\nVersion: 1.0\n"
    files[f"{about}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The Python of a new environment that has the package, and where the package lies there.

    What the suite needs is that of this environment, by a file of paths: no network is asked.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    place = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (place / "suite.pth").write_text(f"{ROOT / 'src'}\n{sysconfig.get_path('purelib')}\n")
    wheel = folder / "outside_package-1.0-py3-none-any.whl"
    write_wheel(wheel)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-index", wheel], check=True)
    return python, place / "outside_package"


def test_its_solver_and_its_data_are_in_the_table(environment, tmp_path, monkeypatch):
    python, package = environment
    copy_checkout(tmp_path, WITHOUT_PACKAGE)
    known = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [python, "-m", "kronbench", "run-with", "outside_package.Additive", "airola"]
    command += ["table-6", "--scale", "smoke", "--set", "reg=0.5", "--cores", "2"]
    command += ["--registry", package / "registry.yaml", "--data", "Toy"]
    done = subprocess.run(
        command, cwd=tmp_path, env=known, capture_output=True, text=True, timeout=800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results" / "smoke-with-additive"
    assert [path.name for path in (tmp_path / "results").iterdir()] == [results.name]
    table = pd.read_csv(results / "airola" / "table-6.csv").set_index("method")
    assert set(table["dataset"]) == {"Toy"}
    assert set(table["source"]) == {"own"}
    assert table.index[-1] == "Additive"
    assert {"KronSVM", "KronRidge", "SGD hinge", "KNN"} < set(table.index)
    shown = [line for line in done.stdout.splitlines() if line.startswith("| Additive |")]
    assert f"{table.loc['Additive', 'ours']:.3f}" in shown[0]

    monkeypatch.setenv("KRONBENCH_REGISTRY", "")  # which the configuration names
    # the same number by hand, on the splits of all methods
    item = load_plan(results / "config.yaml").item("airola", "table-6")
    ((_, train, y_train, test_set),) = splits(
        item.parameters, Dataset.open(results / "data" / "toy")
    )
    scope = {}
    exec(SOLVER.format(name="Additive"), scope)
    model = scope["Additive"](reg=0.5).fit(train, y_train)
    test, y_test = test_set()
    auc = roc_auc(y_test, model.predict(test))
    assert auc > 0.7
    assert table.loc["Additive", "ours"] == pytest.approx(auc, abs=1e-12)
