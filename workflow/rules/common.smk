# The plan of this run, checked before any job is made.

import os
import sys

from kronbench.datasets import describe
from kronbench.errors import InputError
from kronbench.bench.items import load_plan
from kronbench.bench.provenance import (
    data_settings,
    data_sources,
    drawing_settings,
    drawing_sources,
    page_sources,
    table_settings,
    table_sources,
)

where = ""
try:
    PLAN = load_plan(config)
    for item in PLAN.items:
        where = f"{item.paper} {item.name}: "
        for name in item.datasets:
            describe(name)
except InputError as error:
    raise WorkflowError(f"{where}{error}") from None

CONFIG = PLAN.save()
KRONBENCH = f"{sys.executable} -m kronbench"


wildcard_constraints:
    paper="[a-z]+",
    item=r"(2016/)?(figure|table|section)-[0-9]+(\.[0-9]+)?",
    part="[^/]+",
    name="[^/]+",


def item_of(wildcards):
    return PLAN.item(wildcards.paper, wildcards.item)
