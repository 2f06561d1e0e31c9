"""The Census Bureau's TopDown algorithm on the published 2010 counts (TDA)."""

from reproduction.topdown.settings import families

TOPDOWN = config["topdown"]
FAMILIES = families(TOPDOWN["runs"])
RUN_KINDS = ("bias", "margins", "slopes", "summary", "counties", "fingerprint", "sizes")

config["words"]["topdown"] = (
    "Published 2010 counts by race (63), Hispanic origin and adulthood; nation, states and counties; "
    "state populations held. Runs: {runs}. Seed {seed}."
).format(
    seed=config["seed"], runs="; ".join(f"{name} ({n})" for name, n in TOPDOWN["runs"].items())
)


def of_all_systems(kind):
    """Files of one kind: TopDown's families, the systems beside it last."""
    runs = expand(f"results/topdown/{{family}}_{kind}.csv", family=FAMILIES)
    return runs if kind == "nodes" else [*runs, f"results/topdown/others_{kind}.csv"]


def topdown_table(key, what, **where):
    return table_outputs(f"topdown_{key}", what, "TopDown", key=f"{key}_", **where)


def topdown_figure(key, what):
    return figure_outputs(
        f"topdown_{key}", what, "TopDown", key=f"{key}_figure_", caption=f"topdown_{key}_figure"
    )


rule run_topdown:
    input:
        histogram=TOPDOWN["histogram"],
        published=config["data"]["published"],
        library=library("topdown/run_topdown"),
    output:
        **{kind: f"results/topdown/{{family}}_{kind}.csv" for kind in (*RUN_KINDS, "nodes")},
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
        seed=config["seed"],
        runs=lambda wildcards: FAMILIES[wildcards.family],
    message:
        "TopDown on all counties: {wildcards.family}"
    script:
        "../scripts/topdown/run_topdown.py"


rule compare_topdown:
    input:
        histogram=TOPDOWN["histogram"],
        published=config["data"]["published"],
        provenance=rules.fetch_demonstration_data.output.provenance,
        local=[local_file(config)] if local_file(config) else [],
        library=library("topdown/compare_topdown"),
    output:
        **{kind: f"results/topdown/others_{kind}.csv" for kind in RUN_KINDS},
        **topdown_table("invariants", "With and without invariants"),
    log:
        logs("compare_topdown"),
    benchmark:
        benchmarks("compare_topdown")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        seed=config["seed"],
        integer_noise=TOPDOWN["integer_noise"],
        configurations=[name for name in ("identity 1", "identity 4") if name in TOPDOWN["runs"]],
        cache="results/data/download",
    message:
        "The Bureau's errors and exact integer noise, measured as TopDown's"
    script:
        "../scripts/topdown/compare_topdown.py"


rule derive_topdown:
    input:
        group_quarters=TOPDOWN["group_quarters"],
        published=config["data"]["published"],
        library=library("topdown/derive_topdown"),
    output:
        **topdown_table("noise", "Variances of the slides, and by other conversions"),
        **topdown_table("conversions", "Where the Gaussian is better"),
        **topdown_table("tails", "Tails of both laws"),
        **topdown_table("dormitories", "Dormitories", subcategory="Implied constraints"),
        **topdown_table("naive", "Releases that cannot be", subcategory="Implied constraints"),
        **topdown_table("regions", "Regions A and B", subcategory="Implied constraints"),
        **topdown_table("witness", "Fractions only", subcategory="Implied constraints"),
        **topdown_table("implied", "Group quarters", subcategory="Implied constraints"),
        **topdown_table("unimodular", "Unimodular or not", subcategory="Implied constraints"),
        **topdown_table("failsafe", "The failsafe", subcategory="Implied constraints"),
        noise_data="results/topdown/noise.csv",
    log:
        logs("derive_topdown"),
    benchmark:
        benchmarks("derive_topdown")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        seed=config["seed"],
        implied=TOPDOWN["implied"],
    message:
        "Noise and implied constraints of the slides"
    script:
        "../scripts/topdown/derive_topdown.py"


rule collect_topdown:
    input:
        **{kind: of_all_systems(kind) for kind in (*RUN_KINDS, "nodes")},
        noise=rules.derive_topdown.output.noise_data,
        library=library("topdown/collect_topdown"),
    output:
        **topdown_table("bias", "Errors by true size of the cell"),
        **topdown_table("trend", "County totals, system by system"),
        **topdown_table("slopes", "Slopes, state by state"),
        **topdown_table("margins", "Errors of margins by level"),
        **topdown_table("causes", "What makes the bias"),
        **topdown_table("rounding", "Rounding and zeros, level by level"),
        **topdown_table("fingerprint", "The trace of swapping", subcategory="Swapping"),
        **topdown_table("sizes", "Errors by size of the county", subcategory="Swapping"),
        **topdown_figure("bias", "Errors by true size of the cell"),
        **topdown_figure("slopes", "Slopes in all states"),
        **topdown_figure("counties", "A state's counties"),
        **topdown_figure("swapping", "The trace of swapping"),
        **topdown_figure("noise", "Gaussian against Laplace"),
        **{
            f"{name}_data": f"results/figures/topdown_{name}.csv"
            for name in ("bias", "slopes", "counties", "swapping", "noise")
        },
    log:
        logs("collect_topdown"),
    benchmark:
        benchmarks("collect_topdown")
    conda:
        ENVIRONMENT
    params:
        shown=TOPDOWN["shown"],
    message:
        "Tables and figures of TopDown"
    script:
        "../scripts/topdown/collect_topdown.py"


SENT |= {"run_topdown", "compare_topdown", "derive_topdown"}
