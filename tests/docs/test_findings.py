"""The numbers of the pages of findings and molecules are those of the accepted run (paper)."""

import re

import pytest

from kronbench_suite.report.page import findings
from kronbench_suite.runner.accepted_tables import numbers_in
from tests.docs.pages import ROOT

TEXT = " ".join(
    " ".join((ROOT / f"docs/{page}.md").read_text(encoding="utf-8").split())
    for page in ("findings", "molecules")
)

WHICH_MODEL = " ".join((ROOT / "docs/which-model.md").read_text(encoding="utf-8").split())

_DAVIS = "dataset == 'Davis' and setting == 'setting 1' and method == '{}'"
_KIBA = _DAVIS.replace("Davis", "KIBA")
_BOARD = "task == 'training' and method == '{}' and n == {}"
_MADE = "molecules == '{}' and targets == '{}' and setting == 'setting {}'"
_RLSCORE = "part == 'file' and reading == '{}' and file == 'two_step_symmetric{}'"


def near(number, digits=3):
    """A number with so many decimals, without the zero before its point."""
    return f"{number:.{digits}f}".removeprefix("0")


def near_2(number):
    return near(number, 2)


def largest(values):
    return values.abs().max()


# Of each item its rows, and what is told of them: a phrase with its number in braces, the column,
# the form of the number, and the one of the column's that it is, where that is not the largest.
OF_ITEMS = {
    "stock/table-5.1": {
        **{
            f"model == 'KK' and setting == '{setting}'": [
                (f"{{}} for {side}", "largest deviation", "{:.1e}")
            ]
            for setting, side in {"B": "rows", "C": "columns", "D": "both"}.items()
        },
        "model in ('TS, cutoff', 'TS, iterated-tikhonov')": [
            ("off by {} to 1.7", "largest deviation", "{:.2f}", min),
            ("off by 0.30 to {}", "largest deviation", "{:.1f}"),
        ],
    },
    "stock/table-6.1": {
        "quantity == 'AUC' and setting == 'D' and method == 'TS' and dataset == 'gpcr'": [
            ("differs by {}; all", "difference", "{:.4f}"),
        ],
        "quantity == 'AUC' and dataset == 'gpcr' and method in ('KK', 'TS', 'IT')"
        " and not (setting == 'D' and method == 'TS')": [
            ("agree to within {}.", "difference", "{:.4f}", largest),
        ],
    },
    "field/table-3": {
        _DAVIS.format("KronRidge, tabulated kernels"): [
            ("our suite reaches {} and", "CI", near),
            ("reaches .849 and {};", "MSE", near),
        ],
        _DAVIS.format("KronRidge"): [
            ("the same method reaches {} and", "CI", near),
            (".900 and {}; a weighted", "MSE", near),
        ],
        _DAVIS.format("KronRidgeCV, more kernels"): [
            ("training labels, reaches {} and", "CI", near),
            (".909 and {}. Each", "MSE", near),
        ],
        _DAVIS.format("row and column effects"): [("have a CI of {}.", "CI", near)],
        _KIBA.format("KronRidgeCV, more kernels"): [
            ("On KIBA our best scores are {} and", "CI", near),
            (".867 and {}, against", "MSE", near),
        ],
    },
    "field/table-2": {
        "pairwise == 'Kronecker'": [
            ("ten iterations to {} in", "first ten apart", "{:.1e}"),
            ("they are {} to .124 off", "other seed apart", near, min),
            ("they are .014 to {} off", "other seed apart", near),
        ],
        "pairwise == 'Kronecker' and setting != 'setting 1'": [
            ("up to {} with the Gaussian", "largest less honest", near)
        ],
        "pairwise != 'Kronecker' and setting != 'setting 1'": [
            ("up to {} with other kernels", "largest less honest", near),
        ],
    },
    "field/table-1": {
        "kernel == 'Gaussian' and pairwise == 'Cartesian' and setting == 'setting 1'": [
            ("its highest AUC is {}", "printed maximum", near_2),
            ("formula gives {}.", "maximum", near_2),
        ],
    },
    "field/table-6": {
        "part == 'file' and file.str.startswith('cg')": [
            ("unregularized iterative method, agree to {},", "largest difference", "{:.1e}"),
        ],
        "part == 'file' and file == 'two_step2'": [
            ("differ by at most {}:", "largest difference", "{:.0e}"),
        ],
        _RLSCORE.format("as programmed", 2): [("best scores are {} with a drug", "best", near)],
        _RLSCORE.format("as programmed", 1): [("and {} with a pair left out;", "best", near)],
        _RLSCORE.format("as described", 2): [("as documented, they are {} and", "best", near)],
        _RLSCORE.format("as described", 1): [(".746 and {}.", "best", near)],
    },
    "seeger/section-6.2": {
        "comparison == 'folds' and way == 'looked up'": [
            ("Today the ratio is {}", "seconds over the first", "{:.1f}"),
        ],
    },
    "airola/figure-7": {
        _BOARD.format("KronSVM", 64009): [("990 s and KronSVM {} s", "seconds", "{:.2f}")],
        _BOARD.format("LibSVM", 64009): [("LibSVM takes {} s and", "seconds", "{:.0f}")],
        _BOARD.format("KronSVM", 10240000): [
            ("steps take {} s on", "cpu_seconds", "{:,.0f}"),
            ("The AUCs are {}, .796 and", "auc", near),
        ],
        _BOARD.format("KronSVM, ours", 10240000): [
            ("form of regularization, take {} s.", "cpu_seconds", "{:.1f}"),
            (".796 and {};", "auc", near),
        ],
    },
    "performance/table-1": {
        "solver == 'KronSVM (QMR)' and pairs == 10240000": [
            ("product, and {} s if", "cpu seconds", "{:.0f}"),
            ("The AUCs are .796, {} and", "auc", near),
        ],
    },
    "field/table-7": {
        "dataset == 'human-random' and method == 'row and column effects'": [
            ("reach an AUROC of {}.", "AUROC", near),
        ],
        "dataset == 'human-random' and method == 'molecule and sequence'": [
            ("KronRidge reaches {} on fingerprints and", "AUROC", near),
        ],
        "dataset == 'human-cold' and method == 'molecule and sequence'": [
            ("KronRidge has {}; the", "AUROC", near),
        ],
        "dataset == 'human-cold' and method == 'molecule and sequence, validation pairs too'": [
            ("to the training set, the AUROC is {}.", "AUROC", near),
        ],
    },
    "field/table-9": {
        _MADE.format("SMILES", "sequences", 1): [
            ("cost {} of the C-index on random pairs", "cost", near),
            ("random pairs (± {}), at most", "cost_half", near),
        ],
        _MADE.format("SMILES", "sequences", 2): [
            ("at most {} on new molecules", "cost_high", near),
        ],
        _MADE.format("SMILES", "sequences", 3): [
            ("and {} on new proteins (±", "cost", near),
            ("on new proteins (± {}).", "cost_half", near),
        ],
        _MADE.format("given matrix", "sequences", 1): [
            ("alignments lose {} on random", "cost", near),
        ],
        _MADE.format("given matrix", "sequences", 3): [
            ("pairs and {} on new proteins, and", "cost", near),
        ],
        **{
            _MADE.format("SMILES", "given matrix", setting): [
                (phrase, "cost", lambda cost: near(-cost)),
            ]
            for setting, phrase in ((1, "1,024 gain {} and"), (3, ".002 and {}."))
        },
    },
    "stock/section-3": {
        "step == 'one point'": [
            ("point* is: it takes {} to", "over the decompositions", "{:.3f}", min),
            ("0.015 to {} of the", "over the decompositions", "{:.2f}"),
        ],
        "step == 'grid'": [
            ("took {} to 22 times", "over the decompositions", "{:.1f}", min),
            ("2.9 to {} times", "over the decompositions", "{:.0f}"),
        ],
    },
    "airola/repeated/table-6": {
        f"method == 'KronSVM' and dataset == '{dataset}'": [
            (low, "lowest", near_2),
            (high, "highest", near_2),
        ]
        for dataset, low, high in (
            ("GPCR", "AUC from {} to .68", "from .58 to {} on GPCR"),
            ("IC", "{} to .70 on IC", ".62 to {} on IC"),
            ("E", "{} to .80 on E", ".75 to {} on E"),
            ("Ki", "{} to .78 on Ki", ".73 to {} on Ki"),
        )
    },
}
SHOWN = [
    (item, where, *told)
    for item, rows in OF_ITEMS.items()
    for where, phrases in rows.items()
    for told in phrases
]


@pytest.fixture(scope="module")
def numbers():
    return numbers_in(ROOT / "results/reference/paper")


def phrase_of(numbers, item, where, phrase, column, form, chosen=max):
    values = numbers[item].query(where)[column].dropna()
    assert len(values), f"no {column} where {where} in {item}"
    form = form if callable(form) else form.format
    return phrase.format(re.sub(r"e-0", "e-", form(chosen(values))))


@pytest.mark.parametrize("entry", SHOWN, ids=lambda entry: entry[2])
def test_a_number_is_that_of_the_accepted_run(entry, numbers):
    assert phrase_of(numbers, *entry) in TEXT


def test_lead_of_nearest_neighbours(numbers):
    means = numbers["airola/repeated/table-6"].query("dataset == 'Ki'").set_index("method")["ours"]
    assert f"over ten repetitions their lead is {near(means['KNN'] - means['KronSVM'], 3)}" in TEXT
    one = numbers["airola/table-6"].query("dataset == 'Ki'").set_index("method")["ours"]
    assert f"led on Ki by {near(one['KNN'] - one['KronSVM'], 3)};" in TEXT


def test_counts_of_the_library_s_lines_and_of_twins(numbers):
    files = numbers["field/table-6"].query("part == 'file'")
    files = files[~files["file"].str.startswith("cg")]
    symmetric = files["file"].str.contains("symmetric")
    closed = files[~symmetric | (files["reading"] == "as programmed")]
    lines, out = closed["lines"].sum(), closed["come out"].sum()
    assert f"There is a closed form for {lines:.0f} of them" in TEXT
    assert f"without RLScore, match {out:.0f} of these" in TEXT
    differing = (closed["lines"] - closed["come out"])[~symmetric].sum()
    assert f"Another {differing:.0f} differ" in TEXT
    assert closed.loc[symmetric, "come out"].sum() == 28
    assert "match 28 of the 397" in TEXT
    twins = numbers["field/table-4"].query(
        "dataset == 'Davis' and setting == 'setting 3'"
        " and pairs == 'all' and method == 'KronRidge'"
    )
    assert twins[["with a twin", "new vertices"]].to_numpy().tolist() == [[12, 74]]
    assert 'Of the 74 "new" targets in the new-target setting of Davis, twelve' in TEXT


def test_counts_of_the_board(numbers):
    table = numbers["rivals/section-1"]
    rival = table[table["line"] == "rival"].set_index(["ours", "rival"]).sort_index()

    def counted(ours, other):
        return rival.loc[(ours, other), ["wins", "loses", "ties"]].sum().astype(int)

    wins, loses, ties = counted("KronRidge", "LightGBM")
    told = f"KronRidge is ahead of LightGBM in {wins} of them, behind in {loses}, "
    told += f"and tied in {ties}"
    assert wins + loses + ties == 28
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    counts = f"(boosted trees) in {wins} of 28 comparisons, tied in {ties} and behind in {loses} "
    assert counts in readme
    assert told in TEXT
    assert told.replace("of them", "of 28 comparisons") in WHICH_MODEL
    (shown,) = (found for found in findings() if found["item"] == "rivals/section-1")
    assert f"LightGBM in {wins} of 28 comparisons and behind in {loses}" in shown["sentence"]
    lost = "; ".join(rival.loc[("KronRidge", "LightGBM"), "loses on"])
    named = "Davis (-0.032); Ki (-0.024); KIBA (-0.005); none; Davis (-0.028); Ki (-0.018); none"
    assert lost == named
    told = "behind for known vertices on Davis (by .032), Metz (by .024) and KIBA (by .005), "
    assert told + "and for new targets on Davis (by .028) and Metz (by .018)" in TEXT
    won = rival.loc[("KronRidge", "LightGBM")].set_index("setting")["wins"]
    assert set(won) == {0}
    # Only data sets of classes have these.
    ahead = [counted("KronRidge", other).tolist() for other in ("NRLMF", "WNN-GIP")]
    assert ahead == [[0, 4, 12], [0, 2, 14]]
    told = "NRLMF is ahead of KronRidge in 4 of 16 comparisons and WNN-GIP in 2; neither is behind"
    assert told in TEXT
    assert told in WHICH_MODEL
    wins, loses, ties = counted("KronRidge", "ExtraTrees")
    assert f"ahead of it in {wins} comparisons, behind in {loses}, and tied in {ties}." in TEXT
    wins, loses, _ = counted("KronRidgeCV", "LightGBM")
    assert f"is ahead in {wins} and behind in {loses}." in TEXT
    assert f"ahead of LightGBM in {wins} of 28 comparisons, behind in {loses}." in WHICH_MODEL
    loses, wins, _ = counted("KronRidge", "KronRidge and LightGBM")
    told = f"significantly ahead of KronRidge in {wins} comparisons and behind in {loses}"
    assert told in TEXT
    assert told in WHICH_MODEL
    scores = numbers["rivals/table-1"].query("measure == 'AUC'")
    seconds = scores.pivot(index=["dataset", "setting"], columns="method", values="seconds")
    ratio = seconds["LightGBM"] / seconds["KronRidge"]
    told = f"LightGBM takes {ratio.min():.0f} to {ratio.max():.0f} times the processor time"
    assert told in TEXT
    assert told in WHICH_MODEL
    scores = numbers["rivals/table-1"].query("dataset == 'Davis' and measure == 'C-index'")
    (mean,) = scores.query("setting == 'A' and method == 'KronRidge'")["mean"]
    assert f"On known vertices of Davis, KronRidge has a CI of {near(mean, 3)} here" in TEXT
    ranks = numbers["rivals/figure-2"]
    level = ranks.groupby("setting")["group"].sum() - 1
    assert (level.min(), level.max()) == (1, 5)
    tied = ranks[ranks["group"] == 1].groupby("method")["setting"].agg("".join)
    assert set(tied["KronRidge and LightGBM"]) == set("ABCD")
    assert tied[tied.str.len() == 4].index.tolist() == ["KronRidge and LightGBM"]
    assert set(tied["KronRidgeCV"]) == set("BCD")
    assert set(tied["LightGBM"]) == set("ABD")
    curves = numbers["rivals/figure-4"].query("setting == 'A'")
    means = curves.pivot(index=["dataset", "n_train"], columns="method", values="mean")
    first = means.loc["Davis", 1000]
    told = f"1,000 training pairs ({near(first['LightGBM'])} and {near(first['KronRidge'])})"
    assert told in TEXT
    ahead = means.loc["E", "LightGBM"] > means.loc["E", "KronRidge"]
    assert ahead.tolist() == [False, False, False, True]
    assert means.loc["E"].index[2] == 16000
