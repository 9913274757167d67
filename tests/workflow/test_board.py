"""A method from outside stands on the board with its ties, and others add its rows to theirs."""

import subprocess
import sys

import pandas as pd
import pytest

from tests.commands.test_run_with import SOLVER
from tests.docs.pages import DOCS, blocks
from tests.docs.run_blocks import typed
from tests.helpers import copy_checkout

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(900)]


def run_with(checkout, name, *options):
    """Run a solver on the board of the data set of the tutorial; the folder of its results."""
    command = [sys.executable, "-m", "kronbench_suite", "run-with", f"held_out.{name}", "rivals"]
    command += ["table-1", "--scale", "smoke", "--registry", "registry.yaml", "--data", "lab"]
    command += ["--path", ".", *options]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        f"others can compare with your rows: --add results/smoke-with-{name.lower()}/"
        in done.stdout
    )
    return checkout / "results" / f"smoke-with-{name.lower()}"


def test_a_method_from_outside_and_one_that_was_added_have_their_ties(tmp_path):
    copy_checkout(tmp_path)
    (tmp_path / "held_out.py").write_text(
        SOLVER.format(name="One")
        + SOLVER.format(name="Other").partition("class ")[0]
        + "class Other(One):\n    pass\n"
    )
    for block in blocks(DOCS / "tutorials" / "data-set.md"):
        if block.file:  # with enough pairs for 100 neighbours
            text = block.text.replace("(12", "(40").replace("(8", "(30")
            (tmp_path / block.file).write_text(text)
    typed(tmp_path, "python write.py")
    first = run_with(tmp_path, "One")
    rows = pd.read_csv(first / "rivals-table-1-one.csv")
    assert set(rows["method"]) == {"One"}
    assert (set(rows["dataset"]), set(rows["source"])) == ({"lab"}, {"own"})
    second = run_with(tmp_path, "Other", "--add", str(first / "rivals-table-1-one.csv"))
    table = pd.read_csv(second / "rivals" / "table-1.csv")
    of_auc = table[table["measure"] == "AUC"].set_index(["setting", "method"])
    for setting in ("A", "D"):
        # one model under two names: the same numbers, one measured here and one elsewhere
        one, other = of_auc.loc[(setting, "One")], of_auc.loc[(setting, "Other")]
        assert (one["mean"], one["best"]) == (other["mean"], other["best"])
        assert of_auc.loc[setting, "best"].sum() >= 1
