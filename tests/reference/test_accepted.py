"""The result tables of an accepted run: kept, drawn, put back, and accepted part by part."""

import dataclasses
import json
import shutil

import hypothesis
import pandas as pd
import pytest
from hypothesis import strategies as st

from kronbench.cli import main
from kronbench.errors import InputError
from kronbench.reference import accepted
from kronbench.reference.accepted import files_of, packed, restorable, restore, unpacked, why_due
from kronbench.reference.compare import compare, read_run
from kronbench.reference.reference import accept, accept_parts, read_machine
from kronbench.report import accepted_page, render
from kronbench.report.page import verdicts_on, write_report
from kronbench.runner.items import load_plan
from kronbench.runner.provenance import data_digest, table_digests
from tests.helpers import merged
from tests.report.test_report import claim, curves, say, write_results


@hypothesis.given(
    st.lists(
        st.tuples(
            st.floats(),
            st.integers(-(2**53), 2**53),
            st.text("aé ,\"'\n;#", max_size=6),
            st.just("mirror"),
        ),
        max_size=8,
    )
)
def test_a_packed_table_comes_back_byte_for_byte(rows):
    text = pd.DataFrame(rows, columns=["x", "n", "a name, quoted", "source"]).to_csv(index=False)
    assert unpacked(packed(text)) == text


def test_a_constant_column_takes_no_room():
    frame = curves()
    wide = frame.assign(source="mirror", seed=20181, solver="kronbench.models.KronRidge")
    sizes = [len(packed(table.to_csv(index=False))) for table in (frame, wide)]
    assert sizes[1] < sizes[0] + 100


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """A plan of two items with a claim on each, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    plan = load_plan(merged("smoke"))
    items = tuple(plan.item("airola", name) for name in ("figure-3", "figure-4"))
    check = {"kind": "at_least", "value": "auc", "bound": 0.5}
    say(
        monkeypatch,
        claim(**check) | {"id": "one"},
        claim(**check) | {"id": "other", "item": "figure-4"},
    )
    return dataclasses.replace(plan, items=items, papers={"airola": plan.papers["airola"]})


def measure(plan, *items, auc=0.6):
    """Result tables with all that they were made from, and pictures."""
    for item in items:
        write_results(item, curves(auc=auc))
        for part in item.parts:
            file = item.table(part).with_suffix(".json")
            made = table_digests(item) | {"data": data_digest(part)}
            sidecar = json.loads(file.read_text()) | {"made_from": made}
            file.write_text(json.dumps(sidecar, indent=1))
        render.render(item)


def measure_and_accept(plan):
    measure(plan, *plan.items)
    write_report(plan)
    accept(plan, write=True)


def files(folder, *suffixes):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix in suffixes
    }


def test_the_accepted_tables_are_those_of_the_run_and_make_its_page_without_it(plan):
    measure_and_accept(plan)
    before = read_run(plan.results)
    tables = files(plan.results / "airola", ".csv", ".md")
    shutil.rmtree(plan.results)
    assert compare(read_run(plan.accepted), before) == []

    summary = accepted_page.draw_accepted(plan)
    assert "nothing was measured here: all is drawn from results/reference/smoke" in summary
    assert "moved" not in summary
    drawn = plan.of_accepted()
    assert not plan.results.exists(), "a measured run is a folder of its own"
    assert files(drawn.results / "airola", ".csv", ".md") == tables
    page = (drawn.report / "index.html").read_text()
    assert "Nothing was measured here" in page
    place = "Not measured here, but taken from an accepted run (all): now, revision unknown, a cpu"
    assert place in page
    record = json.loads(drawn.items[0].output("json").read_text())
    assert record["elsewhere"] == [f"{place}, 2 cores"]
    assert "configfile config/smoke.yaml" in page, "there is no merged configuration"


def test_parts_of_other_sources_are_drawn_and_named(plan):
    measure_and_accept(plan)
    item = plan.items[0]
    changed = dataclasses.replace(item, parameters={**item.parameters, "iterations": 7})
    accepted_page.draw_accepted(dataclasses.replace(plan, items=(changed, plan.items[1])))
    page = (plan.of_accepted().report / "index.html").read_text()
    n_parts = sum(len(item.parts) for item in plan.items)
    assert f"what this checkout would measure: {len(item.parts)} of {n_parts} parts" in page
    parts = ", ".join(f"airola figure-3 {part}" for part in item.parts)
    assert f"{len(item.parts)} of {n_parts}: its settings changed since: {parts}." in page


def test_parts_without_sums_are_counted_and_explained(plan):
    measure_and_accept(plan)
    item = plan.items[1]
    (part,) = item.parts
    record = files_of(plan, item, part)[1]
    record.write_text(record.read_text().replace('"made_from"', '"of"'))
    accepted_page.draw_accepted(plan)
    page = " ".join((plan.of_accepted().report / "index.html").read_text().split())
    assert (
        "1 of 5: no record of what it was made from (their records are older than the sums" in page
    )
    assert f"changed since): airola figure-4 {part}." in page


def test_a_lost_table_makes_its_item_missing_and_its_claims_untested(plan):
    measure_and_accept(plan)
    item = plan.items[0]
    files_of(plan, item, item.parts[0])[0].unlink()
    summary = accepted_page.draw_accepted(plan)
    assert "missing: airola figure-3\n" in summary
    assert "claims of the papers: 1 holds, 1 not tested" in summary
    verdicts = pd.read_csv(plan.of_accepted().report / "claims.csv").set_index("id")
    assert verdicts.loc["one", "measured"] == "not run yet"


def test_what_has_no_room_is_named_with_its_size(plan, monkeypatch):
    measure(plan, *plan.items)
    write_report(plan)
    monkeypatch.setattr(accepted, "LARGEST", 10)
    assert "no room for airola/tables/figure-3/Ki.csv.xz: " in accept(plan, write=True)
    left_out = read_machine(plan.accepted)["left_out"]
    assert len(left_out) == sum(len(item.parts) for item in plan.items)
    assert all(size > 10 for size in left_out.values())
    monkeypatch.setattr(accepted, "LARGEST", 1 << 20)
    accept(plan, write=True)
    assert read_machine(plan.accepted)["left_out"] == {}


def test_a_part_counts_until_something_that_it_depends_on_changes(plan, monkeypatch):
    measure(plan, *plan.items)
    accept_parts(plan, verdicts_on, write=True)
    assert restorable(plan) == [], "what was measured here stays"
    measured = files(plan.results / "airola" / "tables", ".csv", ".json")
    shutil.rmtree(plan.results)
    jobs = [(item, part) for item in plan.items for part in item.parts]
    assert restorable(plan) == jobs

    for job in jobs:
        restore(plan, *job)
    assert restorable(plan) == jobs, "also where it has been put back"
    back = files(plan.results / "airola" / "tables", ".csv", ".json")
    for file, content in measured.items():
        if file.suffix == ".csv":
            assert back[file] == content
        else:
            assert json.loads(back[file]).pop("accepted") == "results/reference/smoke"

    item, part = jobs[0]
    other = dataclasses.replace(item, parameters={**item.parameters, "seed": 1})
    assert why_due(plan, other, part) == "its settings changed since"
    record = files_of(plan, item, part)[1]
    content = record.read_text()
    record.write_text(content.replace('"made_from"', '"of"'))
    assert why_due(plan, item, part) == "no record of what it was made from"
    record.write_text(content)
    surrogate = dataclasses.replace(plan, config={**plan.config, "data": "surrogate"})
    assert why_due(surrogate, item, part) == "no surrogate data"
    files_of(plan, item, part)[0].unlink()
    assert restorable(plan) == jobs[1:]
    with pytest.raises(InputError, match=r"csv\.xz is missing: this part is not accepted"):
        restore(plan, item, part)
    files_of(plan, *jobs[1])[0].write_bytes(b"damaged")
    with pytest.raises(InputError, match="damaged"):
        restore(plan, *jobs[1])


def test_a_part_that_was_put_back_is_accepted_as_it_was(plan):
    measure(plan, *plan.items)
    accept_parts(plan, verdicts_on, write=True)
    before = files(plan.accepted, ".xz", ".json", ".csv")
    shutil.rmtree(plan.results)
    for job in restorable(plan):
        restore(plan, *job)
    for item in plan.items:
        render.render(item)
    assert "taken from an accepted run" in write_report(plan)
    accept_parts(plan, verdicts_on, write=True)
    assert files(plan.accepted, ".xz", ".json", ".csv") == before


def test_parts_are_accepted_as_they_are_finished(plan):
    first, second = plan.items
    measure(plan, first)
    text = accept_parts(plan, verdicts_on)
    assert "4 of 5 parts; 1 of 2 items are finished; 1 of 2 claims are not tested" in text
    assert not plan.accepted.exists()
    accept_parts(plan, verdicts_on, write=True)
    kept = pd.read_csv(plan.accepted / "verdicts.csv").set_index("id")
    assert kept["verdict"].to_dict() == {"one": "holds", "other": "not tested"}
    assert kept.loc["other", "measured"] == "not run yet"

    # elsewhere the other one is measured
    shutil.rmtree(plan.results)
    measure(plan, second, auc=0.4)
    accept_parts(plan, verdicts_on, write=True)
    kept = pd.read_csv(plan.accepted / "verdicts.csv").set_index("id")
    assert kept["verdict"].to_dict() == {"one": "holds", "other": "contradicted"}
    assert "2 items rendered" in accepted_page.draw_accepted(plan)


@pytest.mark.parametrize("parts", [False, True])
def test_surrogates_take_the_place_of_real_data_only_where_they_are_asked_for(plan, parts):
    def accepted_as(**how):
        return accept_parts(plan, verdicts_on, **how) if parts else accept(plan, **how)

    def on_surrogate(item, *names):
        for name in names:
            file = item.table(name).with_suffix(".json")
            sidecar = json.loads(file.read_text())
            sidecar["data"]["source"] = "surrogate"
            file.write_text(json.dumps(sidecar))

    measure_and_accept(plan)
    before = files(plan.accepted, ".xz", ".json", ".csv")
    item = plan.items[0]
    on_surrogate(item, *item.parts[:2])
    found = "surrogate data, where the accepted run has real data or none: "
    found += ", ".join(f"{name} (1 part)" for name in item.parts[:2])
    text = accepted_as()
    assert text.startswith(f"{found}\n")
    assert "add --yes --surrogates to accept" in text
    with pytest.raises(InputError, match=r"nothing was written; add --surrogates"):
        accepted_as(write=True)
    assert files(plan.accepted, ".xz", ".json", ".csv") == before
    accepted_as(write=True, surrogates=True)
    assert json.loads(files_of(plan, item, item.parts[0])[1].read_text())["data"]["source"] == (
        "surrogate"
    )
    # once accepted as such they need no option, others do; the summary names them all the same
    names = ", ".join(f"{name} (1 part)" for name in item.parts[:2])
    again = accepted_as(write=True)
    assert again.startswith(f"surrogate data, as the accepted run has them: {names}\n")
    assert "real data" not in again
    on_surrogate(item, item.parts[2])
    with pytest.raises(InputError, match=rf"or none: {item.parts[2]} \(1 part\);"):
        accepted_as(write=True)


def test_stale_parts_are_not_accepted(plan, capsys):
    measure(plan, *plan.items)
    item = plan.items[1]
    (part,) = item.parts
    file = item.table(part).with_suffix(".json")
    sidecar = json.loads(file.read_text())
    sidecar["made_from"]["sources"] = "others"
    file.write_text(json.dumps(sidecar))
    text = accept_parts(plan, verdicts_on, write=True)
    stale = f"stale, not accepted: airola figure-4 {part} (code that it can reach changed since)"
    assert stale in text
    assert not files_of(plan, item, part)[0].exists()
    with pytest.raises(InputError, match="has no paper 'stock'; it has: airola"):
        accept_parts(plan, verdicts_on, ["stock"])
    assert main(["page", "--scale", "middle"]) == 2
    assert "there is no scale 'middle'" in capsys.readouterr().err
