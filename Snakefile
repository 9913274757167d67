"""Kronbench: every figure and table of the papers, beside the printed numbers.

snakemake [airola ...] --cores N [--configfile config/smoke.yaml]
"""

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/measurements.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        PLAN.report / "index.html",


onstart:
    check_claims()
    save_settings()
    # The summary at the end is that of this run, or none.
    (PLAN.report / "summary.txt").unlink(missing_ok=True)
    # A job rate limit leaves a timer behind at each pass of the scheduler, and each timer causes
    # another pass: a fifth of a core within half an hour, beside jobs that are timed. None is the
    # scheduler's own word for no limit, which no option can say (docs/snakemake-timers.md).
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    summary, store = PLAN.report / "summary.txt", workflow.storage_settings
    if store.default_storage_provider:
        print(f"\nresults are under {store.default_storage_prefix}/{PLAN.results}")
    elif summary.exists():
        print("", summary.read_text(), sep="\n", end="")
    else:
        print(
            f"\nresults are under {PLAN.report.parent}",
            f"the page of all items of scale '{PLAN.scale}' comes with: snakemake --cores N "
            f"--configfile {PLAN.config_file}",
            f"a page of what is there comes with: "
            f"python -m kronbench_suite report --config {PLAN.config_file}",
            sep="\n",
        )
