"""The Census Bureau's TopDown algorithm on the published 2010 counts (TDA)."""

from reproduction.topdown.settings import KINDS, families

TOPDOWN = config["topdown"]
FAMILIES = families(TOPDOWN["runs"])
OTHERS_KINDS = [kind for kind in KINDS if kind != "nodes"]

config["words"]["topdown"] = (
    "Published 2010 counts by race (63), Hispanic origin and adulthood; nation, states and counties; "
    "state populations held. Runs: {runs}. Seed {seed}."
).format(
    seed=config["seed"], runs="; ".join(f"{name} ({n})" for name, n in TOPDOWN["runs"].items())
)


include: "functions/topdown.smk"


rule run_topdown:
    input:
        histogram=TOPDOWN["histogram"],
        published=config["data"]["published"],
    output:
        **{kind: f"results/topdown/{{family}}_{kind}.csv" for kind in KINDS},
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
        library=library("topdown/run_topdown"),
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
    output:
        **{kind: f"results/topdown/others_{kind}.csv" for kind in OTHERS_KINDS},
        **topdown_tables("invariants"),
    log:
        logs("compare_topdown"),
    benchmark:
        benchmarks("compare_topdown")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        library=library("topdown/compare_topdown"),
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
    output:
        **topdown_tables("noise", "conversions", "tails"),
        **topdown_tables(
            "dormitories",
            "naive",
            "regions",
            "witness",
            "implied",
            "cuts",
            "unimodular",
            "failsafe",
            subcategory="Implied constraints",
        ),
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
        library=library("topdown/derive_topdown"),
        seed=config["seed"],
        implied=TOPDOWN["implied"],
    message:
        "Noise and implied constraints of the slides"
    script:
        "../scripts/topdown/derive_topdown.py"


rule collect_topdown:
    input:
        **{kind: of_all_systems(kind) for kind in KINDS},
        noise=rules.derive_topdown.output.noise_data,
    output:
        **topdown_tables(
            "configurations", "bias", "trend", "slopes", "margins", "causes", "rounding"
        ),
        **topdown_tables("fingerprint", "sizes", subcategory="Swapping"),
        **topdown_figures(),
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
        library=library("topdown/collect_topdown"),
        shown=TOPDOWN["shown"],
        runs=TOPDOWN["runs"],
    message:
        "Tables and figures of TopDown"
    script:
        "../scripts/topdown/collect_topdown.py"


SENT |= {"run_topdown", "compare_topdown", "derive_topdown"}
