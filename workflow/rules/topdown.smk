"""Run the TopDown algorithm of the Census Bureau on the published 2010 counts (TDA).

TDA is *The TopDown algorithm and invariants* (slides).
"""

from reproduction.topdown.settings import ERROR_TABLES, group_configurations

TOPDOWN = config["topdown"]
FAMILIES = group_configurations(TOPDOWN["runs"])


rule compute_topdown_noise:
    output:
        noise="results/tables/topdown_noise.csv",
        conversions="results/tables/topdown_conversions.csv",
        tails="results/tables/topdown_tails.csv",
        arithmetic="results/tables/topdown_arithmetic.csv",
        noise_points="results/figures/topdown_noise.csv",
    log:
        logs("compute_topdown_noise"),
    benchmark:
        benchmarks("compute_topdown_noise")
    conda:
        ENVIRONMENT
    params:
        sources=code("topdown"),
    script:
        "../scripts/topdown/compute_topdown_noise.py"


rule derive_implied_constraints:
    input:
        group_quarters=GROUP_QUARTERS,
        histogram=HISTOGRAM,
        published=PUBLISHED,
    output:
        dormitories="results/tables/topdown_dormitories.csv",
        naive="results/tables/topdown_naive.csv",
        regions="results/tables/topdown_regions.csv",
        witness="results/tables/topdown_witness.csv",
        implied="results/tables/topdown_implied.csv",
        unimodular="results/tables/topdown_unimodular.csv",
        statements="results/tables/topdown_statements.csv",
    log:
        logs("derive_implied_constraints"),
    benchmark:
        benchmarks("derive_implied_constraints")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        tables="implied",
        sources=code("topdown"),
        seed=config["seed"],
        implied=TOPDOWN["implied"],
    script:
        "../scripts/topdown/derive_constraints.py"


use rule derive_implied_constraints as release_group_quarters with:
    output:
        cuts="results/tables/topdown_cuts.csv",
        failsafe="results/tables/topdown_failsafe.csv",
    log:
        logs("release_group_quarters"),
    benchmark:
        benchmarks("release_group_quarters")
    params:
        tables="workarounds",


rule run_topdown:
    input:
        histogram=HISTOGRAM,
        published=PUBLISHED,
    output:
        **{kind: f"results/topdown/{{family}}_{kind}.csv" for kind in ERROR_TABLES},
        nodes="results/topdown/{family}_nodes.csv",
    log:
        logs("run_topdown_{family}"),
    benchmark:
        benchmarks("run_topdown_{family}")
    wildcard_constraints:
        family=any_of(FAMILIES),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        sources=code("topdown"),
        seed=config["seed"],
        runs=lambda wildcards: FAMILIES[wildcards.family],
    script:
        "../scripts/topdown/run_topdown.py"


rule measure_other_systems:
    input:
        histogram=HISTOGRAM,
        published=PUBLISHED,
        provenance="results/data/provenance.json",
        local=find_local_file(config) or [],
    output:
        **{kind: f"results/topdown/others_{kind}.csv" for kind in ERROR_TABLES},
        invariants="results/tables/topdown_invariants.csv",
    log:
        logs("measure_other_systems"),
    benchmark:
        benchmarks("measure_other_systems")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        sources=code("topdown"),
        seed=config["seed"],
        integer_noise=TOPDOWN["integer_noise"],
        runs=TOPDOWN["runs"],
        cache="results/data/download",
    message:
        "Measuring the demonstration data, exact noise, and TopDown without invariants"
    script:
        "../scripts/topdown/measure_other_systems.py"


rule collect_topdown:
    input:
        **{
            kind: expand(f"results/topdown/{{family}}_{kind}.csv", family=[*FAMILIES, "others"])
            for kind in ERROR_TABLES
        },
        nodes=expand("results/topdown/{family}_nodes.csv", family=FAMILIES),
    output:
        configurations="results/tables/topdown_configurations.csv",
        bias="results/tables/topdown_bias.csv",
        trend="results/tables/topdown_trend.csv",
        slopes="results/tables/topdown_slopes.csv",
        margins="results/tables/topdown_margins.csv",
        causes="results/tables/topdown_causes.csv",
        rounding="results/tables/topdown_rounding.csv",
        fingerprint="results/tables/topdown_fingerprint.csv",
        sizes="results/tables/topdown_sizes.csv",
        bias_points="results/figures/topdown_bias.csv",
        slopes_points="results/figures/topdown_slopes.csv",
        counties_points="results/figures/topdown_counties.csv",
        swapping_points="results/figures/topdown_swapping.csv",
    log:
        logs("collect_topdown"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("topdown"),
        runs=TOPDOWN["runs"],
        shown=TOPDOWN["shown"],
    script:
        "../scripts/topdown/collect_topdown.py"


rule plot_topdown:
    input:
        noise="results/figures/topdown_noise.csv",
        counties="results/figures/topdown_counties.csv",
        bias="results/tables/topdown_bias.csv",
        trend="results/tables/topdown_trend.csv",
        fingerprint="results/tables/topdown_fingerprint.csv",
        sizes="results/tables/topdown_sizes.csv",
    output:
        **figure_files(
            noise="results/figures/topdown_noise.svg",
            bias="results/figures/topdown_bias.svg",
            slopes="results/figures/topdown_slopes.svg",
            counties="results/figures/topdown_counties.svg",
            swapping="results/figures/topdown_swapping.svg",
        ),
    log:
        logs("plot_topdown"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("topdown"),
        shown=TOPDOWN["shown"],
    script:
        "../scripts/topdown/plot_topdown.py"


TOPDOWN_TABLES = made_by(
    "tables",
    rules.compute_topdown_noise,
    rules.derive_implied_constraints,
    rules.release_group_quarters,
    rules.measure_other_systems,
    rules.collect_topdown,
)


use rule render_tables as render_topdown_tables with:
    input:
        TOPDOWN_TABLES,
    output:
        **rendered(TOPDOWN_TABLES),
    log:
        logs("render_topdown_tables"),
    params:
        sources=presentation("topdown", "review"),


rule topdown:
    input:
        rules.plot_topdown.output,
        rules.render_topdown_tables.output,
