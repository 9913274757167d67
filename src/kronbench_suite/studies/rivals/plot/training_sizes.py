"""Mean scores by the number of training pairs."""

from kronbench.intervals import half_width
from kronbench_suite.report.numbers import rows_by
from kronbench_suite.runner.columns import SHOWN, Columns
from kronbench_suite.studies.rivals.plot.board_scores import measure_of
from kronbench_suite.studies.rivals.plot.comparisons import TEST_OVER_TRAIN

COLUMNS = SHOWN | Columns(key=("setting", "method", "n_train"))


def tabulate(frame, item, printed):
    """One row for each data set, setting, method and number of pairs; means over repetitions."""

    def numbers(part):
        spread = half_width(part["score"], TEST_OVER_TRAIN)
        return {"measure": measure_of(part), "mean": part["score"].mean(), "±": spread}

    return rows_by(frame, ["dataset", "source", "setting", "method", "n_train"], numbers)
