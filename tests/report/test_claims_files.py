"""The claims of the project, and what the reader of claims refuses."""

import pandas as pd
import pytest
import yaml

from kronbench.bench.items import load_plan
from kronbench.errors import InputError
from kronbench.report import claim_files, claims
from kronbench.resources import config_path
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


@pytest.fixture
def loaded(plan, monkeypatch, tmp_path):
    """Load claims from a file of their own instead of airola's."""

    def load(*entries, **more):
        file = tmp_path / "airola.yaml"
        file.write_text(yaml.safe_dump({"claims": list(entries), **more}))
        paths = {"airola.yaml": file}
        monkeypatch.setattr(
            claim_files, "config_path", lambda _, name: paths.get(name, tmp_path / name)
        )
        return claim_files.load_statements(plan).claims

    return load


def test_each_paper_has_its_file(plan):
    files = {path.stem for path in config_path("claims").glob("*.yaml")}
    assert files == {claim["paper"] for claim in claim_files.load_statements(plan).claims}


def test_a_reason_quotes_no_measured_area(plan):
    for claim in claim_files.load_statements(plan).claims:
        because = claim.get("differs", {}).get("because", "")
        assert "0." not in because, f"{claim['id']}: bound it in the second check instead"


def test_a_claim_is_read(loaded):
    (claim,) = loaded(entry())
    assert claim["paper"] == "airola"


def test_a_sentence_without_check_gives_its_reason(loaded, plan):
    words = entry(untestable="the paper gives no number")
    del words["check"], words["strictness"]
    (claim,) = loaded(words)
    judged = claims.judge(claim, pd.DataFrame(), "smoke")
    assert judged == (claims.UNTESTED, "the paper gives no number")
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
        ({"check": {"kind": "at_least", "value": "speed-up", "bound": 1}}, "add 'timing: true'"),
        ({"check": {"kind": "ratio", "value": "cpu_seconds"}}, "add 'timing: true'"),
        (
            {"check": {"kind": "at_most", "value": "seconds", "bound": 5}, "timing": True},
            "judges absolute seconds",
        ),
        (
            {"differs": {"because": "so", "check": {"kind": "at_mst", "value": "auc"}}},
            "names the check 'at_mst'",
        ),
        ({"untestable": "so"}, "either a check or, under 'untestable'"),
        ({"differs_because": "so"}, "unknown key 'differs_because'"),
        ({"differs": {"because": "so"}}, "'check' is a required property"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_refused(loaded, change, sentence):
    with pytest.raises(InputError, match=r"^config/claims/airola\.yaml: ") as refused:
        loaded(entry(**change))
    assert sentence in str(refused.value)


def test_an_id_stands_for_one_claim(loaded):
    with pytest.raises(InputError, match="'a-claim' stands there twice"):
        loaded(entry(), entry())
