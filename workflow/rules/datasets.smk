# Data: fetched, checked, parsed; one folder each.


rule dataset:
    output:
        arrays=f"results/{PLAN.scale}/data/{{name}}/data.npz",
        provenance=f"results/{PLAN.scale}/data/{{name}}/provenance.json",
    log:
        f"results/{PLAN.scale}/logs/data/{{name}}.log",
    priority: FIRST
    # Beside Snakemake, also on a cluster: nodes seldom see the network, and would draw surrogates.
    localrule: True
    conda:
        "../envs/kronbench.yaml"
    params:
        config=settings,
        results=results,
        # Another policy or registry entry, which has the checksums, makes the data set stale. From
        # where the same bytes come does not.
        policy=PLAN.config["data"],
        made_from=lambda wildcards: data_digest(wildcards.name, PLAN.config["mirror"]),
    message:
        "data {wildcards.name}"
    shell:
        "python -m kronbench_suite prepare {wildcards.name:q} --config {params.config:q}"
        " --results {params.results:q} > {log:q} 2>&1"
