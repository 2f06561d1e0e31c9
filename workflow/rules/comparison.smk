"""Compare all systems on the published 2010 counts, with the totals of the states as invariants."""

from reproduction.comparison.settings import FAMILIES as SYSTEM_FAMILIES

COMPARISON = config["comparison"]


rule run_systems:
    input:
        histogram=HISTOGRAM,
        published=PUBLISHED,
    output:
        errors="results/comparison/{family}_errors.csv",
        shares="results/comparison/{family}_shares.csv",
        summary="results/comparison/{family}_summary.csv",
        cost="results/comparison/{family}_cost.csv",
    log:
        logs("run_systems_{family}"),
    benchmark:
        benchmarks("run_systems_{family}")
    wildcard_constraints:
        family=any_of(SYSTEM_FAMILIES),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1500,
    params:
        sources=code("comparison"),
        seed=config["seed"],
        settings=COMPARISON,
    script:
        "../scripts/comparison/run_systems.py"


rule collect_comparison:
    input:
        **{
            kind: expand(path, family=SYSTEM_FAMILIES)
            for kind, path in rules.run_systems.output.items()
        },
        histogram=HISTOGRAM,
        published=PUBLISHED,
        provenance="results/data/provenance.json",
        local=find_local_file(config) or [],
    output:
        guarantees="results/tables/comparison_guarantees.csv",
        errors="results/tables/comparison_errors.csv",
        shares="results/tables/comparison_shares.csv",
        impossible="results/tables/comparison_impossible.csv",
        cost="results/tables/comparison_cost.csv",
        errors_points="results/figures/comparison_errors.csv",
        bias_points="results/figures/comparison_bias.csv",
        shares_points="results/figures/comparison_shares.csv",
    log:
        logs("collect_comparison"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("comparison"),
        settings=COMPARISON,
        cache="results/data/download",
    script:
        "../scripts/comparison/collect_comparison.py"


COMPARISON_TABLES = made_by("tables", rules.collect_comparison)


rule plot_comparison:
    input:
        made_by("figures", rules.collect_comparison),
    output:
        **figure_files(
            errors="results/figures/comparison_errors.svg",
            bias="results/figures/comparison_bias.svg",
            shares="results/figures/comparison_shares.svg",
        ),
    log:
        logs("plot_comparison"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("comparison"),
    script:
        "../scripts/comparison/plot_comparison.py"


use rule render_tables as render_comparison_tables with:
    input:
        COMPARISON_TABLES,
    output:
        **rendered(COMPARISON_TABLES),
    log:
        logs("render_comparison_tables"),
    params:
        sources=presentation("comparison", "review"),


rule comparison:
    input:
        rules.plot_comparison.output,
        rules.render_comparison_tables.output,
