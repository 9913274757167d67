# Measurements: one job for each item and data set. Each writes one tidy table.

# Items that keep the predictions of each method too.
KEEPING = any_of(
    f"{item.paper}/tables/{item.name}/" for item in PLAN.items if item.keeps_predictions
)


rule compile:
    # Fills numba's cache for all timed jobs before the first clock starts. Once is enough: it has
    # no input, because its rerun would rerun every measurement, and `ancient` would instead hide
    # jobs that are due (Snakemake does not look at what lies behind a job that reruns). A kernel
    # that is edited later, or that a new solver needs, is compiled by the first job that uses it.
    output:
        f"results/{PLAN.scale}/compiled.json",
    log:
        f"results/{PLAN.scale}/logs/compile.log",
    priority: FIRST
    conda:
        "../envs/kronbench.yaml"
    threads: THREADS
    resources:
        mem_mb=lambda wildcards, attempt: 1500 * 2 ** (attempt - 1),
        runtime=lambda wildcards, attempt: 20 * 2 ** (attempt - 1),
    params:
        config=settings,
    message:
        "compile kernels"
    shell:
        "python -m kronbench_suite compile --config {params.config:q} --out {output:q} > {log:q} 2>&1"


rule measure:
    input:
        data=prepared,
        compiled=rules.compile.output,
    output:
        table=f"results/{PLAN.scale}/{{paper}}/tables/{{item}}/{{part}}.csv",
        sidecar=f"results/{PLAN.scale}/{{paper}}/tables/{{item}}/{{part}}.json",
    log:
        f"results/{PLAN.scale}/logs/{{paper}}/{{item}}/{{part}}.log",
    wildcard_constraints:
        paper=rf"(?!{KEEPING}[^/]+\.){PAPERS}",
    # The longest first, so that no core waits in the end for one that began late.
    priority: lambda wildcards: cost(item_of(wildcards), wildcards.part)[0]
    conda:
        "../envs/kronbench.yaml"
    # A timed job takes all cores and the resource, so that nothing runs beside it.
    threads: lambda wildcards: THREADS if item_of(wildcards).timed else 1
    resources:
        timing=lambda wildcards: int(item_of(wildcards).timed),
        # For schedulers (workflow/profiles/slurm): what the accepted run measured, with room;
        # twice as much where a job was killed for it.
        mem_mb=lambda wildcards, attempt: memory_mb(
            item_of(wildcards), wildcards.part, attempt
        ),
        runtime=lambda wildcards, attempt: minutes(
            item_of(wildcards), wildcards.part, attempt
        ),
    params:
        config=settings,
        results=results,
        made_from=lambda wildcards: table_digests(item_of(wildcards)),
    message:
        "{wildcards.paper} {wildcards.item}: {wildcards.part}"
    shell:
        "python -m kronbench_suite run {wildcards.paper} {wildcards.item} {wildcards.part:q}"
        " --config {params.config:q} --results {params.results:q} --threads {threads} > {log:q} 2>&1"


use rule measure as measure_keeping with:
    output:
        table=f"results/{PLAN.scale}/{{paper}}/tables/{{item}}/{{part}}.csv",
        sidecar=f"results/{PLAN.scale}/{{paper}}/tables/{{item}}/{{part}}.json",
        predictions=f"results/{PLAN.scale}/{{paper}}/tables/{{item}}/{{part}}.npz",
    wildcard_constraints:
        paper=rf"(?={KEEPING}[^/]+\.){PAPERS}",
