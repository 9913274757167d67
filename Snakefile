"""Kronbench: every figure and table of the papers, beside the printed numbers.

snakemake --cores N [--configfile config/smoke.yaml] [airola ...]
"""

from snakemake.utils import min_version

min_version("9.20")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        PLAN.report / "index.html",


onstart:
    # The summary at the end is that of this run, or none.
    (PLAN.report / "summary.txt").unlink(missing_ok=True)


onsuccess:
    summary = PLAN.report / "summary.txt"
    if summary.exists():
        print("", summary.read_text(), sep="\n", end="")
    else:
        print(
            f"\nresults are under {PLAN.report.parent}; the page comes with: snakemake --cores N"
        )
