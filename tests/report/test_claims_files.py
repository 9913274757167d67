"""The claims of the project, what an entry stands for, and what the reader of claims refuses."""

import dataclasses

import pandas as pd
import pytest
import yaml

from kronbench.errors import InputError
from kronbench_suite.report import claim_files, judge
from kronbench_suite.report.verdicts import UNTESTED
from kronbench_suite.resources import PaperFolder
from kronbench_suite.runner.plans import load_plan
from tests.helpers import merged


@pytest.fixture(scope="module")
def plan():
    return load_plan(merged("smoke"))


def entry(**changes):
    return {
        "id": "a-claim",
        "place": "figure 3",
        "sentence": "It is so.",
        "item": "figure-6",
        "strictness": "strict",
        "check": {"kind": "at_least", "value": "auc", "bound": 0},
    } | changes


AUC = {"kind": "at_least", "value": "auc", "bound": 0}
GAIN = {
    "kind": "gain", "value": "auc", "between": "method", "low": "LibSVM", "high": "KronSVM",
    "by": ["size"], "bound": 0, "spread": {"over": ["fold"]},
}  # fmt: skip


BECAUSE = {
    "cause": "setting",
    "text": "The solver stops early at K=200.",
    "shown_by": {"where": "size == 500", "value": "auc"},
}


def because(**shown_by):
    return {"because": BECAUSE | {"shown_by": BECAUSE["shown_by"] | shown_by}}


def checked(**changes):
    return {"check": AUC | changes}


@pytest.fixture
def loaded(plan, monkeypatch, tmp_path):
    """Load claims from files of their own, by name, instead of those of the project."""
    folder = tmp_path / "papers/airola/claims"
    ours = PaperFolder("airola", folder.parent, "")
    monkeypatch.setattr(claim_files, "paper_folder", lambda paper: ours)
    own = dataclasses.replace(plan, papers={"airola": plan.papers["airola"]})

    def load(*entries, name="claims.yaml", **more):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump({"claims": list(entries), **more}, sort_keys=False))
        return claim_files.load_statements(own).claims

    return load


def test_a_sentence_without_check_gives_its_reason(loaded, plan):
    words = entry(untestable="the paper gives no number")
    del words["check"], words["strictness"]
    (claim,) = loaded(words)
    judged = judge.judge(claim, pd.DataFrame(), "smoke")
    assert (judged.verdict, judged.measured) == (UNTESTED, "the paper gives no number")


@pytest.mark.parametrize(
    "change",
    [{"value": "deviation"}, {"where": "solver == 'LibSVM'"}, {"by": ["reg"]}],
)
def test_a_column_that_is_not_there_is_named_by_the_verdict(loaded, change):
    """Another scale may have it."""
    (claim,) = loaded(entry(check=AUC | change))
    rows = {"dataset": "Ki", "source": "mirror", "method": "LibSVM", "size": 1, "auc": 0.9}
    judged = judge.judge(claim, pd.DataFrame([rows]), "smoke")
    assert judged.verdict == UNTESTED
    assert any(name in judged.measured for name in ("'deviation'", "'solver'", "'reg'"))


@pytest.mark.parametrize(
    ("change", "word", "hint"),
    [
        (checked(value="aucc"), "aucc", ": did you mean 'auc'?"),
        (checked(where="metod == 'LibSVM'"), "metod", ": did you mean 'method'?"),
        (checked(where="method == 'LibSVN'"), "LibSVN", ": did you mean 'LibSVM'?"),
        (checked(where="method in ('LibSVM', 'KronSWM')"), "KronSWM", ": did you mean 'KronSVM'?"),
        (checked(where="dataset == 'Kl'"), "Kl", ""),
        (checked(where="`test aucc` > 0"), "test aucc", ""),
        (checked(by=["sise"]), "sise", ""),
        ({"check": GAIN | {"low": "LibSVN"}}, "LibSVN", ": did you mean 'LibSVM'?"),
        (because(where="sise == 500"), "sise", ""),
        (because(value="aucc"), "aucc", ": did you mean 'auc'?"),
        (because(by="metod"), "metod", ": did you mean 'method'?"),
    ],
)
def test_what_no_scale_has_is_refused(loaded, change, word, hint):
    told = f"asks for '{word}', which airola figure-6 has at no scale: neither parameters, printed"
    with pytest.raises(InputError) as refused:
        loaded(entry(**change))
    assert told in str(refused.value)
    assert str(refused.value).endswith(f"numbers nor code name it{hint}")


def test_what_another_scale_has_is_not_refused(loaded, plan):
    """Smoke has the smallest data set alone, and another number of pairs."""
    assert "E" not in plan.item("airola", "table-6").datasets
    loaded(entry(item="table-6", check=WITHIN | {"target": 1, "where": "dataset == 'E'"}))
    loaded(entry(check=AUC | {"where": "size == 42000 and method == 'RLScore KronSVM'"}))


def test_a_claim_that_judges_a_column_of_the_clock_is_one_on_time(loaded):
    ratio = {"kind": "ratio", "between": "method", "slow": "LibSVM", "fast": "KronSVM"}
    ratio |= {"value": "cpu_seconds", "bound": 1}
    on_time, other = loaded(entry(id="a", check=ratio), entry(id="b"))
    assert (on_time["timing"], other["timing"]) == (True, False)


def test_what_a_query_names_and_asks_for():
    where = "dataset == 'Ki' and method in ('SVM', 'KNN') and fold not in (3,) and n > 5"
    found = list(claim_files.compared_in(where))
    assert [pair for pair in found if pair[1]] == [("dataset", ["Ki"]), ("method", ["SVM", "KNN"])]
    assert {column for column, _ in found} == {"dataset", "method", "fold", "n"}
    assert ("label", [-1]) in claim_files.compared_in("label == -1 and size == n")
    assert ("our auc", [0.5]) in claim_files.compared_in("`our auc` == 0.5")


WITHIN = {"kind": "within", "value": "ours", "tolerance": 0.1}


def matrix(**changes):
    """An entry for six claims."""
    return {
        **entry(
            id="auc-{dataset.id}-{method}",
            item="table-6",
            sentence="{method} has AUC {dataset.auc} on {dataset}.",
            check=WITHIN | {"target": "{dataset.auc}", "where": "dataset == '{dataset}'"},
        ),
        "for": {
            "dataset": {
                "Ki": {"id": "ki", "auc": 0.77},
                "E": {"id": "e", "auc": 0.79},
                "Checker+": {"id": "checker-plus", "auc": 0.8},
            },
            "method": ["svm", "ridge"],
        },
    } | changes


def test_an_entry_stands_for_the_product_of_what_it_is_for_the_last_fastest(loaded):
    found = loaded(matrix())
    assert [claim["id"] for claim in found] == [
        f"auc-{dataset}-{method}"
        for dataset in ("ki", "e", "checker-plus")
        for method in ("svm", "ridge")
    ]
    assert found[-1]["sentence"] == "ridge has AUC 0.8 on Checker+."
    assert {claim["alike"] for claim in found} == {"… has AUC … on …."}
    assert found[-1]["check"] == WITHIN | {"target": 0.8, "where": "dataset == 'Checker+'"}


def test_folds_are_corrected_as_the_protocol_of_the_paper_says(loaded):
    own = GAIN | {"spread": {"over": ["fold"], "test_over_train": 0}}
    found = loaded(entry(check=GAIN), entry(id="b", check=own))
    assert [claim["check"]["spread"]["test_over_train"] for claim in found] == [0.3333, 0]
    assert [claim["check"]["spread"].get("degrees") for claim in found] == [3, None]


def test_keys_are_shared_by_a_file_and_folders_are_read_in_order(loaded):
    words = {key: entry()[key] for key in ("sentence", "check", "place")}
    shared = {"item": "figure-6", "strictness": "loose", "place": "section 9"}
    loaded({"id": "b", **words}, name="section-2.yaml", shared=shared)
    found = loaded({"id": "a", **words}, name="section-1.yaml", shared=shared)
    assert [(claim["id"], claim["strictness"]) for claim in found] == [
        ("a", "loose"),
        ("b", "loose"),
    ]
    assert found[0]["place"] == "figure 3"


def without(key):
    return {name: value for name, value in entry().items() if name != key}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"item": "figure-99"}, "reads airola figure-99, which is not an item"),
        ({"check": {"kind": "atleast", "value": "auc"}}, "names the check 'atleast'"),
        ({"check": {"kind": "at_least", "value": "auc"}}, "gives the check 'at_least' other"),
        (checked(value="seconds"), "judges absolute seconds"),
        (checked(tolerance=0), "got an unexpected keyword argument 'tolerance'"),
        (checked(where="method = 'LibSVM'"), "claim 'a-claim' has a 'where' that cannot be read"),
        (
            {"check": GAIN | {"spread": {"over": ["task"]}}},
            "claim 'a-claim' takes the spread over 'task', which tells no",
        ),
        ({"untestable": "so"}, "either a check or, under 'untestable'"),
        ({"whose": "theirs"}, "'theirs' is not one of ['paper', 'ours', 'field']"),
        ({"timing": True}, "unknown key 'timing'"),
        ({"sentence": "{dataset}"}, "claim 'a-claim' has the placeholder {dataset}"),
        (because(item="figure-99"), "its reason, reads airola figure-99, which is not an item"),
        (because(where="method = 'LibSVM'"), "its reason, has a 'where' that cannot be read"),
        # and entries that cannot be expanded
        (
            [matrix(sentence="{data} has it.")],
            "claim 'auc-{dataset.id}-{method}' has the placeholder {data}, which its 'for' lacks",
        ),
        ([matrix(id="auc-{method}")], "claim 'auc-svm' is given twice"),
        ([matrix(), entry(id="auc-e-svm")], "claim 'auc-e-svm' is given twice"),
        ([matrix(id="{dataset}-{method}")], "claim 'Ki-svm' has an id with other characters"),
        ([matrix(**{"for": {"dataset": []}})], "claims.0.for.dataset"),
        ([without("place")], "claim 'a-claim' lacks the key 'place'"),
        ([without("strictness")], "claim 'a-claim' lacks the key 'strictness'"),
        ([without("check")], "either a check or"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_refused(loaded, change, sentence):
    entries = [entry(**change)] if isinstance(change, dict) else change
    with pytest.raises(InputError, match=r"^papers/airola/claims/claims\.yaml: ") as told:
        loaded(*entries)
    assert sentence in str(told.value)
