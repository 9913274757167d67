"""What the pages are built with, and the files that say what is installed where."""

import re

import pytest
import yaml

from tests.docs.pages import ROOT


def locked(name):
    """The version of each package in a lock; several where they depend on the Python."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = {}
    for package, version in re.findall(r"^([a-z0-9][\w.-]*)==([^ ;\\\n]+)", text, re.MULTILINE):
        found.setdefault(package, set()).add(version)
    return found


@pytest.mark.parametrize("name", ["requirements.lock", "docs/requirements.lock"])
def test_a_lock_has_hashes_and_no_address(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text
    for block in re.split(r"\n(?=[a-z0-9])", text):
        assert "--hash=sha256:" in block


def test_the_lock_of_the_pages_moves_no_version():
    tools, package = locked("docs/requirements.lock"), locked("requirements.lock")
    shared = tools.keys() & package.keys()
    assert "jinja2" in shared
    assert all(tools[name] <= package[name] for name in shared)


@pytest.mark.parametrize("name", ["environment.yml", "workflow/envs/kronbench.yaml"])
def test_an_environment_is_a_list_that_conda_reads(name):
    content = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    assert set(content) <= {"name", "channels", "dependencies"}
    *packages, pip = content["dependencies"]
    # conda's match specifications: a name, and perhaps versions
    specification = r"[a-z0-9_-]+( ?(([<>=!]=?|=)[\d.*]+)(,[<>=!]=?[\d.*]+)*)?"
    assert all(re.fullmatch(specification, package) for package in packages)
    assert "pip" in {re.split(r"[ <>=]", package)[0] for package in packages}
    assert list(pip) == ["pip"]


def test_steps_of_the_workflows_keep_what_later_steps_take():
    """A job takes an artifact that a job which it needs has kept."""
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]
        kept = {}
        for name, job in jobs.items():
            needed = job.get("needs", [])
            for step in job["steps"]:
                action, options = step.get("uses", ""), step.get("with", {})
                if action.startswith("actions/upload-artifact"):
                    kept[options["name"]] = name
                if action.startswith("actions/download-artifact"):
                    assert kept[options["name"]] in needed
