"""The numbers of docs/findings.md are those of the accepted run at the paper scale."""

import re

import pytest

from kronbench.reference.accepted import numbers_in
from kronbench.report.page import findings
from tests.docs.pages import ROOT

TEXT = " ".join((ROOT / "docs/findings.md").read_text(encoding="utf-8").split())

WHICH_MODEL = " ".join((ROOT / "docs/which-model.md").read_text(encoding="utf-8").split())

# A phrase with its numbers in braces, the item, the rows, the column, and what is told of it.
_TABLE51 = "stock/table-5.1", "model == 'KK' and setting == '{}'", "largest deviation"
_FILTERS = "stock/table-5.1", "model in ('TS, cutoff', 'TS, iterated-tikhonov')"
_DAVIS = "dataset == 'Davis' and setting == 'setting 1' and method == '{}'"
_METZ = "pairwise == 'Kronecker' and setting != 'setting 1'"
_BOARD = "task == 'training' and method == '{}' and n == {}"
_RLSCORE = "part == 'file' and reading == '{}'"
_GRID = "stock/section-3", "step == '{}'", "over the decompositions"


def near(number, digits):
    """A number with so many decimals, without the zero before its point."""
    return f"{number:.{digits}f}".removeprefix("0")


SHOWN = [
    *(
        (phrase, _TABLE51[0], _TABLE51[1].format(setting), _TABLE51[2], "max", "{:.1e}")
        for phrase, setting in (
            ("{} for rows", "B"),
            ("{} for columns", "C"),
            ("{} for both", "D"),
        )
    ),
    ("off by {} to 1.7", *_FILTERS, "largest deviation", "min", "{:.2f}"),
    ("off by 0.30 to {}", *_FILTERS, "largest deviation", "max", "{:.1f}"),
    (
        "ours is off by {}, where",
        "stock/table-6.1",
        "quantity == 'AUC' and setting == 'D' and method == 'TS' and dataset == 'gpcr'",
        "difference",
        "max",
        "{:.4f}",
    ),
    (
        "agrees to {}.",
        "stock/table-6.1",
        "quantity == 'AUC' and dataset == 'gpcr' and method in ('KK', 'TS', 'IT')"
        " and not (setting == 'D' and method == 'TS')",
        "difference",
        "largest",
        "{:.4f}",
    ),
    *(
        (phrase, "field/table-3", _DAVIS.format(method), column, "max", near)
        for phrase, method, column in (
            ("the suite gets {} and", "KronRidge, tabulated kernels", "CI"),
            (".849 and {}, trained", "KronRidge, tabulated kernels", "MSE"),
            ("the same method has {} and", "KronRidge", "CI"),
            (".900 and {}; with weights", "KronRidge", "MSE"),
            ("training labels, {} and", "KronRidgeCV, more kernels", "CI"),
            (".909 and {}. Each", "KronRidgeCV, more kernels", "MSE"),
            ("have a CI of {}.", "row and column effects", "CI"),
            ("similarity matrices ({})", "DeepDTA, on both similarity matrices", "printed CI"),
            ('"KronRLS, Davis: CI {}', "KronRLS", "printed CI"),
            ("MSE {}", "KronRLS", "printed MSE"),
            ("printed with {} and .261 (DeepDTA)", "DeepDTA", "printed CI"),
            (".878 and {} (DeepDTA)", "DeepDTA", "printed MSE"),
            ("(DeepDTA), {} and .229", "GraphDTA, GIN", "printed CI"),
            (".893 and {} (GraphDTA)", "GraphDTA, GIN", "printed MSE"),
            (", {} and .207 (MGraphDTA)", "MGraphDTA", "printed CI"),
            (".900 and {} (MGraphDTA)", "MGraphDTA", "printed MSE"),
        )
    ),
    *(
        (
            phrase,
            "field/table-3",
            f"dataset == 'KIBA' and setting == 'setting 1' and method == '{method}'",
            column,
            "max",
            near,
        )
        for phrase, method, column in (
            ("On KIBA the numbers are {} and", "KronRidgeCV, more kernels", "CI"),
            (".867 and {} beside", "KronRidgeCV, more kernels", "MSE"),
            ("the printed {} and .194 of DeepDTA", "DeepDTA", "printed CI"),
            (".863 and {} of DeepDTA", "DeepDTA", "printed MSE"),
        )
    ),
    (
        "ten iterations to {} in",
        "field/table-2",
        "pairwise == 'Kronecker'",
        "first ten apart",
        "max",
        "{:.1e}",
    ),
    (
        "they are {} to .124 off",
        "field/table-2",
        "pairwise == 'Kronecker'",
        "other seed apart",
        "min",
        near,
    ),
    (
        "they are .014 to {} off",
        "field/table-2",
        "pairwise == 'Kronecker'",
        "other seed apart",
        "max",
        near,
    ),
    ("up to {} above", "field/table-2", _METZ, "largest less honest", "max", near),
    (
        "up to {} with other kernels",
        "field/table-2",
        "setting != 'setting 1' and pairwise != 'Kronecker'",
        "largest less honest",
        "max",
        near,
    ),
    *(
        (
            phrase,
            "field/table-1",
            "kernel == 'Gaussian' and pairwise == 'Cartesian' and setting == 'setting 1'",
            column,
            "max",
            "near 2",
        )
        for phrase, column in (
            ("AUC of {} in", "printed maximum"),
            ("formula gives {}.", "maximum"),
        )
    ),
    (
        "iteration without regularization agree to {},",
        "field/table-6",
        "part == 'file' and file.str.startswith('cg')",
        "largest difference",
        "max",
        "{:.1e}",
    ),
    (
        "differ by at most {}:",
        "field/table-6",
        "part == 'file' and file == 'two_step2'",
        "largest difference",
        "max",
        "{:.0e}",
    ),
    *(
        (
            phrase,
            "field/table-6",
            _RLSCORE.format(reading) + f" and file == '{file}'",
            column,
            "max",
            near,
        )
        for phrase, reading, file, column in (
            ("drug left out has {} at best", "as programmed", "two_step_symmetric2", "best"),
            ("one pair left out {};", "as programmed", "two_step_symmetric1", "best"),
            ("as described it is {} and", "as described", "two_step_symmetric2", "best"),
            (".746 and {}.", "as described", "two_step_symmetric1", "best"),
        )
    ),
    (
        "Today the ratio is {}",
        "seeger/section-6.2",
        "comparison == 'folds' and way == 'looked up'",
        "seconds over the first",
        "max",
        "{:.1f}",
    ),
    (
        "990 s and {} s",
        "airola/figure-7",
        _BOARD.format("KronSVM", 64009),
        "seconds",
        "max",
        "{:.2f}",
    ),
    (
        "it is {} s and",
        "airola/figure-7",
        _BOARD.format("LibSVM", 64009),
        "seconds",
        "max",
        "{:.0f}",
    ),
    (
        "steps take {} s of",
        "airola/figure-7",
        _BOARD.format("KronSVM", 10240000),
        "cpu_seconds",
        "max",
        "{:,.0f}",
    ),
    (
        "product, {} s where",
        "performance/table-1",
        "solver == 'KronSVM (QMR)' and pairs == 10240000",
        "cpu seconds",
        "max",
        "{:.0f}",
    ),
    (
        "and {} s with preconditioned",
        "airola/figure-7",
        _BOARD.format("KronSVM, ours", 10240000),
        "cpu_seconds",
        "max",
        "{:.1f}",
    ),
    (
        "The AUC is {}, .796 and",
        "airola/figure-7",
        _BOARD.format("KronSVM", 10240000),
        "auc",
        "max",
        near,
    ),
    (
        "The AUC is .796, {} and",
        "performance/table-1",
        "solver == 'KronSVM (QMR)' and pairs == 10240000",
        "auc",
        "max",
        near,
    ),
    (
        ".796 and {};",
        "airola/figure-7",
        _BOARD.format("KronSVM, ours", 10240000),
        "auc",
        "max",
        near,
    ),
    ("of the grid is: {} to", _GRID[0], _GRID[1].format("one point"), _GRID[2], "min", "{:.3f}"),
    ("0.015 to {} of the", _GRID[0], _GRID[1].format("one point"), _GRID[2], "max", "{:.2f}"),
    ("took {} to 22 times", _GRID[0], _GRID[1].format("grid"), _GRID[2], "min", "{:.1f}"),
    ("2.9 to {} times", _GRID[0], _GRID[1].format("grid"), _GRID[2], "max", "{:.0f}"),
    *(
        (
            phrase,
            "airola/repeated/table-6",
            f"method == 'KronSVM' and dataset == '{dataset}'",
            column,
            "max",
            "near 2",
        )
        for dataset, phrases in {
            "GPCR": ("AUC from {} to .68", "from .58 to {} on GPCR"),
            "IC": ("{} to .70 on IC", ".62 to {} on IC"),
            "E": ("{} to .80 on E", ".75 to {} on E"),
            "Ki": ("{} to .78 on Ki", ".73 to {} on Ki"),
        }.items()
        for phrase, column in zip(phrases, ("lowest", "highest"), strict=True)
    ),
]

# Numbers that articles print, that follow from data or a definition alone, or that another phrase
# of the same sentence has already.
PRINTED = [
    "56.3 and 118.5 seconds",
    "at a width of 0.017",
    "0.185 for attributes in [−1, 1], 0.028 for unit variances, and 8.3e-5 in the units",
    "more than .80 there",
    "95 %",
    *("section 6.1", "section 8.2*", "section 5.6*", "`stock table-6.1`"),
]


@pytest.fixture(scope="module")
def numbers():
    return numbers_in(ROOT / "results/reference/paper")


def phrase_of(numbers, phrase, item, where, column, told, form):
    values = numbers[item].query(where)[column].dropna()
    assert len(values), f"no {column} where {where} in {item}"
    value = {"max": values.max(), "min": values.min(), "largest": values.abs().max()}[told]
    if callable(form):
        return phrase.format(near(value, 3))
    return phrase.format(
        near(value, 2) if form == "near 2" else re.sub(r"e-0", "e-", form.format(value))
    )


@pytest.mark.parametrize("entry", SHOWN, ids=lambda entry: entry[0])
def test_a_number_is_that_of_the_accepted_run(entry, numbers):
    assert phrase_of(numbers, *entry) in TEXT


def test_lead_of_nearest_neighbours(numbers):
    draws = numbers["airola/repeated/table-6"].query("dataset == 'Ki'").set_index("method")["ours"]
    assert f"over ten draws it is {near(draws['KNN'] - draws['KronSVM'], 3)}" in TEXT
    one = numbers["airola/table-6"].query("dataset == 'Ki'").set_index("method")["ours"]
    assert f"led on Ki by {near(one['KNN'] - one['KronSVM'], 3)};" in TEXT


def test_counts_of_the_library_s_lines_and_of_twins(numbers):
    files = numbers["field/table-6"].query("part == 'file'")
    files = files[~files["file"].str.startswith("cg")]
    symmetric = files["file"].str.contains("symmetric")
    closed = files[~symmetric | (files["reading"] == "as programmed")]
    lines, out = closed["lines"].sum(), closed["come out"].sum()
    assert f"Of the {lines:.0f} that have a closed form {out:.0f} come out" in TEXT
    differing = (closed["lines"] - closed["come out"])[~symmetric].sum()
    assert f"Of the others {differing:.0f} differ" in TEXT
    assert closed.loc[symmetric, "come out"].sum() == 28
    assert "Twenty-eight of the 397" in TEXT
    twins = numbers["field/table-4"].query(
        "dataset == 'Davis' and setting == 'setting 3'"
        " and pairs == 'all' and method == 'KronRidge'"
    )
    assert twins[["with a twin", "new vertices"]].to_numpy().tolist() == [[12, 74]]
    assert 'Twelve of the 74 "new" targets' in TEXT


def test_counts_of_the_board(numbers):
    table = numbers["rivals/section-1"]
    rival = table[table["line"] == "rival"].set_index(["ours", "rival"]).sort_index()

    def counted(ours, other):
        return rival.loc[(ours, other), ["wins", "loses", "ties"]].sum().astype(int)

    wins, loses, ties = counted("KronRidge", "LightGBM")
    told = f"KronRidge is ahead of LightGBM in {wins} of them, behind in {loses}, "
    told += f"and level in {ties}"
    assert wins + loses + ties == 28
    assert told in TEXT
    assert told.replace(" of them", "") in WHICH_MODEL
    (shown,) = (found for found in findings() if found["item"] == "rivals/section-1")
    assert f"LightGBM in {wins} of 28 comparisons and behind in {loses}" in shown["sentence"]
    lost = "; ".join(rival.loc[("KronRidge", "LightGBM"), "loses on"])
    assert lost == "Davis (-0.022); Ki (-0.005); none; Davis (-0.023); none"
    assert "known vertices of Davis (by .022) and Metz (by .005), and for" in TEXT
    assert "for new targets of Davis (by .023)." in TEXT
    wins, loses, _ = counted("KronRidgeCV", "LightGBM")
    assert f"is ahead in {wins} and behind in {loses}." in TEXT
    loses, wins, _ = counted("KronRidge", "KronRidge and LightGBM")
    assert (loses, f"surely behind KronRidge in none, and ahead in {wins}" in TEXT) == (0, True)
    assert f"surely behind KronRidge in none, and ahead in {wins}." in WHICH_MODEL
    scores = numbers["rivals/table-1"].query("measure == 'AUC'")
    seconds = scores.pivot(index=["dataset", "setting"], columns="method", values="seconds")
    ratio = seconds["LightGBM"] / seconds["KronRidge"]
    assert (
        f"LightGBM takes {ratio.min():.0f} to {ratio.max():.0f} times the processor time" in TEXT
    )
    ranks = numbers["rivals/figure-2"]
    level = ranks.groupby("setting")["group"].sum() - 1
    assert set(level) == {3, 4}


def test_every_decimal_number_of_the_page_is_compared(numbers):
    left = TEXT
    known = [phrase_of(numbers, *entry) for entry in SHOWN] + PRINTED
    known += ["on Ki by .028;", "it is .005", "from -.005 to .015"]  # the second from its verdict
    known += ["(by .022)", "(by .005)", "(by .023)"]
    covered = {at for phrase in known for at in _places(left, phrase)}
    numbers_found = re.finditer(r"(?<![\w.-])-?\d*\.\d+(?:e-\d+)?(?![\w.])", left)
    missed = [
        left[max(0, match.start() - 30) : match.end() + 20]
        for match in numbers_found
        if match.start() not in covered and "-" not in left[match.start() - 1]
    ]
    assert not missed, "\n".join(missed)


def _places(text, phrase):
    for found in re.finditer(re.escape(phrase), text):
        yield from range(*found.span())
