# Data: fetched, checked, parsed; one folder each.


rule dataset:
    input:
        sources=lambda wildcards: data_sources(wildcards.name),
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
        config=CONFIG,
        # Another policy, mirror or registry entry makes the data set stale; a mirror's password and
        # query are not kept with the job.
        policy=PLAN.config["data"],
        mirror=shown(
            os.environ.get("KRONBENCH_MIRROR", PLAN.config["mirror"]) or ""
        ).partition("?")[0],
        entry=lambda wildcards: data_settings(wildcards.name),
    message:
        "data {wildcards.name}"
    shell:
        "python -m kronbench prepare {wildcards.name:q} --config {params.config} > {log:q} 2>&1"
