"""The claims of the project, what an entry stands for, and what the reader of claims refuses."""

import dataclasses

import pandas as pd
import pytest
import yaml

from kronbench import resources
from kronbench.errors import InputError
from kronbench.reference.verdicts import UNTESTED
from kronbench.report import claim_files, claims
from kronbench.runner.items import load_plan
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
RATIO = {
    "kind": "ratio", "value": "cpu_seconds", "between": "method", "slow": "LibSVM",
    "fast": "KronSVM", "bound": 1,
}  # fmt: skip
GAIN = {
    "kind": "gain", "value": "auc", "between": "method", "low": "LibSVM", "high": "KronSVM",
    "by": ["size"], "bound": 0, "spread": {"over": ["fold"]},
}  # fmt: skip


@pytest.fixture
def loaded(plan, monkeypatch, tmp_path):
    """Load claims from files of their own, by name, instead of those of the project."""
    monkeypatch.setattr(resources, "package_path", tmp_path.joinpath)
    entries = plan.papers["airola"]["items"]
    without = {name: {**entry, "identities": {}} for name, entry in entries.items()}
    airola = {**plan.papers["airola"], "items": without}

    def load(*entries, name="claims.yaml", identities=None, **more):
        file = tmp_path / "papers/airola/claims" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump({"claims": list(entries), **more}, sort_keys=False))
        without["table-1"]["identities"] = identities or {}
        own = dataclasses.replace(plan, papers={"airola": airola})
        return claim_files.load_statements(own).claims

    return load


def test_each_paper_has_its_claims(plan):
    assert set(plan.papers) == {
        claim["paper"] for claim in claim_files.load_statements(plan).claims
    }


def test_a_claim_is_read(loaded):
    (claim,) = loaded(entry())
    assert claim["paper"] == "airola"


def test_a_sentence_without_check_gives_its_reason(loaded, plan):
    words = entry(untestable="the paper gives no number")
    del words["check"], words["strictness"]
    (claim,) = loaded(words)
    judged = claims.judge(claim, pd.DataFrame(), "smoke")
    assert (judged.verdict, judged.measured) == (UNTESTED, "the paper gives no number")
    del words["untestable"]
    with pytest.raises(InputError, match="either a check or"):
        loaded(words)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"item": "figure-99"}, "reads airola figure-99, which is not an item"),
        ({"check": {"kind": "atleast", "value": "auc"}}, "names the check 'atleast'"),
        ({"check": {"kind": "np", "value": "auc"}}, "names the check 'np'"),
        ({"check": {"kind": "_means", "value": "auc"}}, "names the check '_means'"),
        (
            {"item": "table-3", "check": {"kind": "at_least", "value": "speed-up", "bound": 1}},
            "add 'timing: true'",
        ),
        ({"timing": True}, "reads no column of a clock: leave out 'timing: true'"),
        ({"check": RATIO}, "add 'timing: true'"),
        (
            {"check": AUC | {"value": "seconds"}, "timing": True},
            "judges absolute seconds",
        ),
        (
            {"check": {"kind": "at_least", "value": "auc"}},
            "gives the check 'at_least' other",
        ),
        ({"check": AUC | {"slack": 0}}, "got an unexpected keyword argument 'slack'"),
        ({"check": GAIN | {"significant": True}}, "keyword argument 'significant'"),
        ({"untestable": "so"}, "either a check or, under 'untestable'"),
        ({"differs": {"because": "so", "check": {"bound": -1}}}, "unknown key 'differs'"),
        ({"whose": "theirs"}, "'theirs' is not one of ['paper', 'ours', 'field']"),
        ({"kind": "algebra"}, "'algebra' is not one of ['evidence', 'identity']"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_refused(loaded, change, sentence):
    with pytest.raises(InputError, match=r"^papers/airola/claims/claims\.yaml: ") as refused:
        loaded(entry(**change))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (AUC | {"value": "acu"}, "names the column 'acu', which airola figure-6 does not have"),
        (AUC | {"where": "metod == 'LibSVM'"}, "names the column 'metod'"),
        (AUC | {"where": "`a method` == 'LibSVM'"}, "names the column 'a method'"),
        (AUC | {"where": "method == 'LibSVN'"}, "asks for method 'LibSVN', which airola figure-6"),
        (AUC | {"where": "n > 5 and method in ('LibSVM', 'SVM')"}, "asks for method 'SVM'"),
        (AUC | {"where": "method != 'SVM'"}, "asks for method 'SVM'"),
        (AUC | {"where": "dataset == 'GPCR'"}, "asks for dataset 'GPCR'"),
        (AUC | {"where": "size == 43000"}, "asks for size '43000'"),
        (AUC | {"where": "method = 'LibSVM'"}, "has a 'where' that cannot be read"),
        (GAIN | {"high": "KronSVN"}, "asks for method 'KronSVN'"),
        (GAIN | {"by": ["sise"]}, "names the column 'sise'"),
        (GAIN | {"spread": {"over": ["task"]}}, "takes the spread over 'task', which does not"),
    ],
)
def test_what_no_scale_has_is_refused(loaded, check, sentence):
    with pytest.raises(
        InputError, match=r"^papers/airola/claims/claims\.yaml: claim 'a-claim' "
    ) as refused:
        loaded(entry(check=check))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "check",
    [
        AUC | {"where": "size == 42000"},  # of the default scale and that of the paper
        AUC | {"where": "size == 2000 and method == 'LibSVM by vec trick'"},
        GAIN,
    ],
)
def test_what_another_scale_has_is_not_tested_here(loaded, check):
    (claim,) = loaded(entry(check=check))
    frame = pd.DataFrame({"method": ["KronSVM"], "size": 500, "auc": 0.7})
    frame = frame.assign(fold=0, task="training", dataset="Ki", source="mirror")
    judged = claims.judge(claim, frame, "smoke")
    assert judged.verdict == UNTESTED
    assert judged.measured.startswith(("no such rows", "without LibSVM"))


def test_a_headline_names_columns_of_its_item(loaded):
    headline = {
        "sentence": "S", "item": "table-7", "where": "dataset == 'Ki'", "of": ["method"],
        "theirs": "paper seconds", "ours": "our seconds", "times": "paper / our seconds",
    }  # fmt: skip
    assert loaded(entry(), headlines=[headline])
    with pytest.raises(InputError, match="headline 'S' names the column 'hours', which airola"):
        loaded(entry(), headlines=[headline | {"ours": "hours"}])
    with pytest.raises(InputError, match="headline 'S' asks for dataset 'Kii'"):
        loaded(entry(), headlines=[headline | {"where": "dataset == 'Kii'"}])


def test_an_id_stands_for_one_claim(loaded):
    with pytest.raises(InputError, match="'a-claim' is given twice"):
        loaded(entry(), entry())


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
    assert found[-1]["check"] == WITHIN | {"target": 0.8, "where": "dataset == 'Checker+'"}
    assert not any({"for", "but"} & set(claim) for claim in found)


def test_a_value_without_fields_has_an_id(loaded):
    (claim,) = loaded(entry(id="a-{set.id}", **{"for": {"set": {"Ki": "ki"}}}))
    assert claim["id"] == "a-ki"


def test_printed_numbers_are_cells_of_their_table(loaded, tmp_path):
    (tmp_path / "papers/airola/printed").mkdir(parents=True)
    (tmp_path / "papers/airola/printed/t.csv").write_text("set,n,auc\nki,12,0.5\ne,,x\n")
    found = loaded(
        entry(
            id="a-{set}",
            sentence="{set.n} {set.auc}",
            check={"kind": "at_least", "value": "auc", "bound": "{set.n}"},
            **{"for": {"set": "t.csv"}},
        )
    )
    assert [(c["id"], c["sentence"], c["check"]["bound"]) for c in found] == [
        ("a-ki", "12 0.5", 12),
        ("a-e", " x", ""),
    ]


BECAUSE = {
    "cause": "setting",
    "text": "The solver stops early at K=200.",
    "shown_by": {"where": "size == 500", "value": "auc"},
}


def test_single_claims_of_an_entry_are_other(loaded):
    found = loaded(
        matrix(
            whose="ours",
            but=[
                {"id": "auc-e-svm", "untestable": "nobody knows"},
                {
                    "for": {"dataset": {"ki": 0.1, "e": 0.2}},
                    "id": "auc-{dataset}-ridge",
                    "check": WITHIN | {"target": 0.5, "tolerance": "{dataset.id}"},
                    "because": BECAUSE | {"shown_by": {"where": "paper > 0", "value": "ours"}},
                },
            ],
        )
    )
    found = {claim["id"]: claim for claim in found}
    words = {"paper", "id", "place", "sentence", "item", "kind", "whose", "untestable"}
    assert set(found["auc-e-svm"]) == words
    assert found["auc-e-svm"]["whose"] == "ours"
    other = {name for name, claim in found.items() if "because" in claim}
    assert other == {"auc-ki-ridge", "auc-e-ridge"}
    assert found["auc-e-ridge"]["check"] == WITHIN | {"target": 0.5, "tolerance": 0.2}


def test_a_claim_is_evidence_for_the_paper_unless_it_says_otherwise(loaded):
    first, second = loaded(entry(), entry(id="b", whose="ours", kind="identity"))
    assert (first["kind"], first["whose"]) == ("evidence", "paper")
    assert (second["kind"], second["whose"]) == ("identity", "ours")


def test_a_reason_names_its_rows(loaded):
    (claim,) = loaded(entry(because=BECAUSE))
    assert claim["because"] == BECAUSE
    shown_by = {"item": "figure-3", "reads": "measurements", "where": "reg > 0", "value": "risk"}
    assert loaded(entry(because=BECAUSE | {"shown_by": shown_by}))


def because(**shown_by):
    return BECAUSE | {"shown_by": BECAUSE["shown_by"] | shown_by}


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ({"cause": "age", "text": "So."}, "'shown_by' is a required property"),
        ({"cause": "age", "shown_by": BECAUSE["shown_by"]}, "'text' is a required property"),
        ({"text": "So.", "shown_by": BECAUSE["shown_by"]}, "'cause' is a required property"),
        (BECAUSE | {"cause": "unknown"}, "'unknown' is not one of ['paper', 'data', 'age',"),
        (BECAUSE | {"check": {}}, "unknown key 'check'"),
        (BECAUSE | {"shown_by": {"value": "auc"}}, "'where' is a required property"),
        (because(item="figure-99"), "a reason shown by airola figure-99, which is not an item"),
        (because(value="acu"), "its reason, names the column 'acu', which airola figure-6"),
        (because(where="metod == 'LibSVM'"), "its reason, names the column 'metod'"),
        (because(where="method == 'LibSVN'"), "its reason, asks for method 'LibSVN'"),
        (because(item="figure-3", value="size", where="reg > 0"), "airola figure-3 does"),
        *(
            (BECAUSE | {"text": f"It is {number} here."}, f"has a reason that quotes '{number}'")
            for number in ("0.75", ".5", "12 %", "12%", "3 times", "40 s", "7 seconds")
        ),
    ],
)  # fmt: skip
def test_a_reason_that_shows_nothing_is_refused(loaded, reason, sentence):
    with pytest.raises(InputError, match=r"^papers/airola/claims/claims\.yaml: ") as refused:
        loaded(entry(because=reason))
    assert sentence in str(refused.value)


@pytest.mark.parametrize("text", ["The L2 loss stops at K=200.", "Of 2^-5 and 10 weights one."])
def test_digits_of_names_are_no_measured_numbers(loaded, text):
    assert loaded(entry(because=BECAUSE | {"text": text}))


def test_folds_are_corrected_as_the_protocol_of_the_paper_says(loaded):
    own = GAIN | {"spread": {"over": ["fold"], "test_over_train": 0}}
    found = loaded(entry(check=GAIN), entry(id="b", check=own))
    assert [claim["check"]["spread"]["test_over_train"] for claim in found] == [0.25, 0]


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


IDENTITY = {"place": "Lemma 1", "sentence": "It is so.", "tolerance": 0}


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (
            [matrix(sentence="{data} has it.")],
            "claim 'auc-{dataset.id}-{method}' has the placeholder {data}, which its 'for' does "
            "not give; it gives: dataset, dataset.id, dataset.auc, method",
        ),
        ([matrix(sentence="{dataset.auk}")], "has the placeholder {dataset.auk}"),
        ([entry(sentence="{dataset}")], "claim 'a-claim' has the placeholder {dataset}"),
        ([matrix(id="auc-{method}")], "claim 'auc-{method}' makes 'auc-svm' twice"),
        ([matrix(), entry(id="auc-e-svm")], "claim 'auc-e-svm' is given twice"),
        ([matrix(id="{dataset}-{method}")], "claim 'Ki-svm' has an id with other characters"),
        (
            [matrix(but=[{"id": "auc-e-knn", "place": "section 1"}])],
            "does not make 'auc-e-knn', which its entry 'but' changes; it makes: auc-ki-svm,",
        ),
        ([matrix(but=[{"id": "auc-e-svm", "bound": 1}])], "'bound'"),
        (
            [matrix(**{"for": {"dataset": "no.csv"}})],
            "there is no file printed/no.csv",
        ),
        ([matrix(**{"for": {"dataset": []}})], "claims.0.for.dataset"),
        ([{"sentence": "It is so."}], "a claim (It is so.) lacks the key 'id'"),
        ([{"id": "a", "item": "figure-6"}], "claim 'a' lacks the key 'place'"),
        (
            [{"item": "table-1", "identities": ["no"]}],
            "names 'no', which table-1 does not have",
        ),
    ],
)
def test_an_entry_that_cannot_be_expanded_is_refused(loaded, entries, sentence):
    with pytest.raises(InputError, match=r"^papers/airola/claims/claims\.yaml: ") as refused:
        loaded(*entries)
    assert sentence in str(refused.value)


def test_an_identity_that_no_file_names_is_refused(loaded):
    with pytest.raises(InputError, match=r"^papers/airola/paper\.yaml: .*'lemma-1'"):
        loaded(entry(), identities={"lemma-1": IDENTITY})


def test_an_entry_without_strictness_is_refused(loaded):
    words = entry()
    del words["strictness"]
    with pytest.raises(InputError, match="'a-claim' lacks the key 'strictness'"):
        loaded(words)
