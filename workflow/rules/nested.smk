"""Compare TopDown with noise that has a term for each total, on the published 2010 counts."""

from reproduction.nested.settings import FAMILIES as NESTED_FAMILIES
from reproduction.nested.settings import reads_topdown

NESTED = config["nested"]
NESTED_KINDS = ("bias", "margins", "summary")


rule run_nested:
    input:
        histogram=HISTOGRAM,
        published=PUBLISHED,
    output:
        **{kind: f"results/nested/{{family}}_{kind}.csv" for kind in NESTED_KINDS},
    log:
        logs("run_nested_{family}"),
    benchmark:
        benchmarks("run_nested_{family}")
    wildcard_constraints:
        family=any_of(NESTED_FAMILIES),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1500,
    params:
        sources=code("nested"),
        seed=config["seed"],
        settings=NESTED,
        read=reads_topdown(config),
    script:
        "../scripts/nested/run_nested.py"


rule collect_nested:
    input:
        **{
            kind: expand(f"results/nested/{{family}}_{kind}.csv", family=NESTED_FAMILIES)
            for kind in NESTED_KINDS
        },
        topdown=(
            [
                f"results/topdown/{family}_{kind}.csv"
                for kind in NESTED_KINDS
                for family in ("production", "others")
            ]
            if reads_topdown(config)
            else []
        ),
        histogram=HISTOGRAM,
        published=PUBLISHED,
    output:
        errors="results/tables/nested_errors.csv",
        sizes="results/tables/nested_sizes.csv",
        summary="results/tables/nested_summary.csv",
        splits="results/tables/nested_splits.csv",
        frontier_points="results/figures/nested_frontier.csv",
        errors_points="results/figures/nested_errors.csv",
        sizes_points="results/figures/nested_sizes.csv",
    log:
        logs("collect_nested"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("nested"),
        settings=NESTED,
    script:
        "../scripts/nested/collect_nested.py"


NESTED_TABLES = made_by("tables", rules.collect_nested)


rule plot_nested:
    input:
        frontier="results/figures/nested_frontier.csv",
        errors="results/figures/nested_errors.csv",
        sizes="results/figures/nested_sizes.csv",
    output:
        **figure_files(
            frontier="results/figures/nested_frontier.svg",
            errors="results/figures/nested_errors.svg",
            sizes="results/figures/nested_sizes.svg",
        ),
    log:
        logs("plot_nested"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("nested"),
    script:
        "../scripts/nested/plot_nested.py"


use rule render_tables as render_nested_tables with:
    input:
        NESTED_TABLES,
    output:
        **rendered(NESTED_TABLES),
    log:
        logs("render_nested_tables"),
    params:
        sources=presentation("nested", "review"),


rule nested:
    input:
        rules.plot_nested.output,
        rules.render_nested_tables.output,
