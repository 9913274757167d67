# Experiments: one job for each item and data set. Each writes one tidy table.


rule compile:
    # Fills numba's cache before the first clock starts. Once is enough: it has no input, because
    # its rerun would rerun every experiment, and `ancient` would instead hide jobs that are due
    # (Snakemake does not look at what lies behind a job that reruns). A kernel that is edited
    # later is compiled by the first job that uses it.
    output:
        f"results/{PLAN.scale}/compiled.json",
    log:
        f"results/{PLAN.scale}/logs/compile.log",
    threads: workflow.cores
    message:
        "compile kernels"
    shell:
        "{KRONBENCH} compile --out {output} > {log} 2>&1"


def prepared(wildcards):
    """The data set of a job; none where the item needs none."""
    if not item_of(wildcards).datasets:
        return []
    return PLAN.data_folder(wildcards.part) / "data.npz"


rule experiment:
    input:
        data=prepared,
        sources=lambda wildcards: table_sources(item_of(wildcards)),
        compiled=rules.compile.output,
    output:
        table=f"results/{PLAN.scale}/{{paper}}/tables/{{item}}/{{part}}.csv",
        sidecar=f"results/{PLAN.scale}/{{paper}}/tables/{{item}}/{{part}}.json",
    log:
        f"results/{PLAN.scale}/logs/{{paper}}/{{item}}/{{part}}.log",
    # A timed job takes all cores and the resource, so that nothing runs beside it.
    threads: lambda wildcards: workflow.cores if item_of(wildcards).timed else 1
    resources:
        timing=lambda wildcards: int(item_of(wildcards).timed),
    params:
        settings=lambda wildcards: table_settings(item_of(wildcards)),
    message:
        "{wildcards.paper} {wildcards.item}: {wildcards.part}"
    shell:
        "{KRONBENCH} run {wildcards.paper} {wildcards.item} {wildcards.part:q}"
        " --config {CONFIG} --threads {threads} > {log:q} 2>&1"
