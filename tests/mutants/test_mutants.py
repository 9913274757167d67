"""That each mutant of mutants.yaml is one, and that the survey tells a mutant from the program."""

import shutil

import pytest

from kronbench.bench.items import load_scales
from tests.mutants.survey import ROOT, Mutant, Survey, read_mutants

MUTANTS = read_mutants()
QUICK = "loss-logistic-hessian"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_text_of_a_mutant_stands_once_in_the_program_and_its_item_is_run(mutant, tmp_path):
    (tmp_path / mutant.path).parent.mkdir(parents=True)
    shutil.copy(ROOT / mutant.path, tmp_path / mutant.path)
    mutant.spoil(tmp_path)
    assert (tmp_path / mutant.path).read_text() != (ROOT / mutant.path).read_text()
    item = load_scales()[0].item(mutant.paper, mutant.item)  # the smoke scale has fewer parts
    assert item.measures
    smoke = load_scales()[1].item(mutant.paper, mutant.item)
    assert set(mutant.parts) <= {*item.parts, *smoke.parts}


def test_names_are_different():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_a_wrong_hessian_is_seen_and_a_comment_is_not(tmp_path):
    survey = Survey(tmp_path)
    (wrong,) = (mutant for mutant in MUTANTS if mutant.name == QUICK)
    outcome = survey.outcome(wrong)
    assert not outcome.failed
    assert outcome.numbers
    assert "airola-losses-hessian" in [
        each.place for each in outcome.identities + outcome.evidence
    ]

    same = Mutant(
        **{**vars(wrong), "name": "comment", "new": f"{wrong.old}  # the derivative of expit"}
    )
    assert not survey.outcome(same).killed
