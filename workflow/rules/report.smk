# Pictures, tables, claims and the page: from result tables alone.


def tables_of(item):
    return [item.table(part) for part in item.parts]


rule render:
    input:
        tables=lambda wildcards: tables_of(item_of(wildcards)),
        sources=lambda wildcards: drawing_sources(item_of(wildcards)),
    output:
        multiext(
            f"results/{PLAN.scale}/{{paper}}/{{item}}", ".csv", ".pdf", ".png", ".json"
        ),
    log:
        f"results/{PLAN.scale}/logs/{{paper}}/{{item}}/render.log",
    params:
        settings=lambda wildcards: drawing_settings(item_of(wildcards)),
    message:
        "draw {wildcards.paper} {wildcards.item}"
    shell:
        "{KRONBENCH} render {wildcards.paper} {wildcards.item} --config {CONFIG} > {log} 2>&1"


def rendered(items):
    return [
        item.output(suffix)
        for item in items
        for suffix in ("csv", "pdf", "png", "json")
    ]


rule report:
    input:
        rendered=rendered(PLAN.items),
        sources=page_sources(PLAN),
    output:
        PLAN.report / "index.html",
        PLAN.report / "claims.csv",
        PLAN.report / "summary.txt",
    log:
        f"results/{PLAN.scale}/logs/report.log",
    message:
        "claims and page"
    shell:
        "{KRONBENCH} report --config {CONFIG} > {log} 2>&1"


# `snakemake --cores N airola` renders the items of one paper.
for key in PLAN.papers:

    rule:
        name:
            key
        input:
            rendered([item for item in PLAN.items if item.paper == key]),
