# Figures, tables, claims and the page: from result tables alone. They take seconds, and stay
# beside Snakemake on a cluster.

# An item with a layout is a table: its files are known by their whole path, paper and item.
TABLES = any_of(f"{item.paper}/{item.name}" for item in PLAN.items if item.layout)


rule render:
    input:
        tables=lambda wildcards: item_of(wildcards).drawn_from,
    output:
        f"results/{PLAN.scale}/{{paper}}/{{item}}.csv",
        f"results/{PLAN.scale}/{{paper}}/{{item}}.pdf",
        f"results/{PLAN.scale}/{{paper}}/{{item}}.json",
        report(
            f"results/{PLAN.scale}/{{paper}}/{{item}}.png",
            caption="../report/item.rst",
            category=paper_of,
            labels=labels_of,
        ),
    log:
        f"results/{PLAN.scale}/logs/{{paper}}/{{item}}/render.log",
    wildcard_constraints:
        paper=rf"(?!{TABLES}\.){PAPERS}",
    localrule: True
    conda:
        "../envs/kronbench.yaml"
    params:
        config=settings,
        results=results,
        caption=caption_of,
        made_from=lambda wildcards: plot_digest(item_of(wildcards)),
    message:
        "draw {wildcards.paper} {wildcards.item}"
    shell:
        "python -m kronbench_suite render {wildcards.paper} {wildcards.item}"
        " --config {params.config:q} --results {params.results:q} > {log:q} 2>&1"


# `use rule` does not hand on that it is one.
localrules:
    render_table,


use rule render as render_table with:
    output:
        f"results/{PLAN.scale}/{{paper}}/{{item}}.csv",
        f"results/{PLAN.scale}/{{paper}}/{{item}}.json",
        f"results/{PLAN.scale}/{{paper}}/{{item}}.md",
        report(
            f"results/{PLAN.scale}/{{paper}}/{{item}}.html",
            caption="../report/item.rst",
            category=paper_of,
            labels=labels_of,
        ),
    wildcard_constraints:
        paper=rf"(?={TABLES}\.){PAPERS}",


rule settings:
    # Only the page depends on all of them: each other job is told its own.
    output:
        PLAN.config_file,
    log:
        f"results/{PLAN.scale}/logs/settings.log",
    localrule: True
    conda:
        "../envs/kronbench.yaml"
    params:
        text=PLAN.text,
    message:
        "settings"
    shell:
        "printf %s {params.text:q} > {output:q} 2> {log:q}"


rule report:
    input:
        settings=rules.settings.output,
        rendered=rendered(PLAN.items),
        # It judges claims by them. Without them here a table that is lost, and whose picture is
        # there, would not be made again.
        tables=[
            file for item in PLAN.items if item.has_tables for file in item.drawn_from
        ],
        # what the page compares with, as far as it is there
        accepted=[
            local(PLAN.accepted / name)
            for name in ("verdicts.csv", "items.json")
            if (PLAN.accepted / name).exists()
        ],
    output:
        # In Snakemake's report each file lies alone, so that their links would lead nowhere there.
        *PLAN.pages,
        report(
            PLAN.report / "claims.csv",
            caption="../report/claims.rst",
            category="All papers",
            labels={"item": "claims", "title": "Verdicts on what the papers claim"},
        ),
        PLAN.report / "summary.txt",
    log:
        f"results/{PLAN.scale}/logs/report.log",
    localrule: True
    conda:
        "../envs/kronbench.yaml"
    params:
        results=results,
        made_from=lambda wildcards: page_digest(PLAN),
    message:
        "claims and pages"
    shell:
        "python -m kronbench_suite report --config {input.settings:q} --results {params.results:q}"
        " > {log:q} 2>&1"


# `snakemake --cores N airola` renders the items of one paper.
for key in PLAN.papers:

    rule:
        name:
            key
        input:
            rendered([item for item in PLAN.items if item.paper == key]),
