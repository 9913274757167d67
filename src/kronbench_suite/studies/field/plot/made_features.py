"""Scores and seconds of features made of SMILES and sequences: the rows as they were measured."""

from kronbench_suite.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("setting", "molecules", "targets"),
    clock=("features_cpu", "kernels_cpu", "choosing_cpu", "fitting_cpu"),
    conditions=("peak_mib",),
)


def tabulate(frame, item, printed):
    """One row for each setting and kernel of both sides."""
    return frame
