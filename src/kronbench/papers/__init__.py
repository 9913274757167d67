"""A folder for each paper: what it claims and prints, how it is measured, how it is drawn.

``paper.yaml``
    Title, citation and items: measurement, data, parameters, drawing, caption.
``claims/``
    Its sentences, each with a check.
``printed/``
    Its numbers, as CSV files.
``measure/``
    One module for each measurement, ``run(spec, data, rng) -> pandas.DataFrame``. ``spec`` holds
    the item's parameters with ``seed`` and ``time_cap``; ``data`` is a ``Dataset``, or None where
    the item needs none; ``rng`` is seeded by the base seed, the measurement and the data set. The
    table has one row for each measured point. What was not done is said in
    ``frame.attrs["skipped"]``, a list of sentences. A measurement writes no file.
``draw/``
    One module for each picture or table, from result tables alone: ``draw(frame, item)`` or
    ``tabulate(frame, item, printed)``.
``data.yaml``
    Data sets of its own, in the form of ``config/datasets.yaml``, where it has some.

A paper from outside is the same folder elsewhere: ``kronbench run-with FOLDER``.
"""

from kronbench.resources import PAPERS_PATH

__path__ = PAPERS_PATH  # the list itself, to which folders from outside are added
