"""What a measurement declares and may use; ``python docs/measurements.py`` writes the page."""

import inspect
import re
from pathlib import Path

from kronbench import solvers
from kronbench_suite.report import estimates
from kronbench_suite.runner import clock, columns, processes, provenance, seeds

PAGE = Path(__file__).parent / "reference" / "measurements.md"

HEAD = """\
# What a measurement declares

Written by `python docs/measurements.py` from the docstrings of `kronbench_suite.runner`. A module
of a paper's `measure/` has a docstring, `COLUMNS`, and `run(spec, data, rng)`
([your paper](../tutorials/paper.md)); the examples there are complete.

## Parameters

"""

# The names of each section, in order; what the papers import has to be among them (a test).
SECTIONS = {
    "COLUMNS": (
        columns,
        ["Columns", "TIMING", "SHOWN", "RUNNER", "REVERSED", "beside", "differs"],
    ),
    "Timing": (
        clock,
        "time_interleaved measure Stopwatch Timing TimeCap BUSY".split()
        + "Calls watched_calls peak_mib".split(),
    ),
    "Memory and threads of one's own": (processes, ["fresh_process"]),
    "Random draws": (seeds, ["generator"]),
    "Solvers by name": (solvers, ["make_solver", "installed", "scores_of"]),
    "Means and other estimates": (estimates, ["means", "exponent", "disturbed"]),
}
WORDS = {
    "COLUMNS": (
        "A declaration is an expression of `Columns`, `TIMING` and `SHOWN` alone, since it is "
        "read without importing the module. A module of `measure/` that is not timed declares "
        "`Columns(key=(...))`, a timed one `TIMING | Columns(key=(...))`, and a module of `plot/` "
        "with `tabulate` what its own table has: `SHOWN | Columns(key=(...))`. Without `COLUMNS` "
        "there the table has the columns that were measured."
    ),
    "Means and other estimates": (
        "For `tabulate` of `plot/`. A measurement returns the numbers of each repetition, in rows "
        "with a column such as `fold`, which `COLUMNS` has in `key` and in `repeats`."
    ),
    "Timing": (
        "An item whose numbers come from a clock has `timed: true` in `paper.yaml`: its job runs "
        "alone, on all cores, once everything is compiled. A row takes the columns of "
        "`Timing.columns()`, and `COLUMNS` has `TIMING`."
    ),
}


def page() -> str:
    """Each section with its names: how they are called, and what their docstrings say."""
    parts = [HEAD, _text(provenance.parameters_of.__doc__), "\n"]
    for title, (module, names) in SECTIONS.items():
        parts.append(f"\n## {title}\n\n`from {module.__name__} import {', '.join(names)}`\n")
        parts += [f"\n{WORDS[title]}\n"] if title in WORDS else []
        for name in names:
            parts += _described(name, getattr(module, name), module)
    return "".join(parts)


def _described(name, thing, module):
    """The heading and the text of a class with its methods, of a function, or of a constant."""
    if not callable(thing):
        # A constant has the comment above it.
        source = inspect.getsource(module)
        said = re.search(rf"((?:^#.*\n)+){name} = ", source, re.MULTILINE)
        text = _text(" ".join(line.strip("# ") for line in said[1].splitlines()))
        has = thing.record(_All()) if isinstance(thing, columns.Columns) else thing
        return [f"\n### {name}\n\n{text}\n\n`{has}`\n"]
    parts = [f"\n### {name}\n\n`{_call(name, thing)}`\n\n{_text(thing.__doc__)}\n"]
    methods = vars(thing).items() if inspect.isclass(thing) else ()
    for method, function in methods:
        if inspect.isfunction(function) and not method.startswith("_"):
            parts.append(f"\n`.{_call(method, function)}`: {_text(function.__doc__)}\n")
    return parts


class _All:
    """Stands for a table that has every column."""

    def __contains__(self, name):
        return True


def _call(name, thing):
    signature = inspect.signature(thing)
    plain = [
        one.replace(annotation=one.empty)
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    return f"{name}{signature.replace(parameters=plain, return_annotation=signature.empty)}"


def _text(docstring):
    """A docstring as Markdown: its roles become plain code."""
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", inspect.cleandoc(docstring))
    return text.replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
