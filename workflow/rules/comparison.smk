"""Every system on one table: the published 2010 counts, states' totals held."""

from reproduction.comparison.settings import FAMILIES as SYSTEM_FAMILIES

COMPARISON = config["comparison"]
MEASURED = ("errors", "shares", "summary", "cost")

config["words"]["comparison"] = (
    "Published 2010 counts by race (63), Hispanic origin and adulthood, states' totals held; {runs} "
    "runs a system and budget; records are swapped in {states}. Seed {seed}."
).format(seed=config["seed"], runs=COMPARISON["runs"], states=", ".join(COMPARISON["swapped"]))


include: "functions/comparison.smk"


rule run_systems:
    input:
        histogram=config["topdown"]["histogram"],
        published=config["data"]["published"],
    output:
        **{kind: f"results/comparison/{{family}}_{kind}.csv" for kind in MEASURED},
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
        library=library("comparison/run_systems"),
        seed=config["seed"],
        comparison=COMPARISON,
    message:
        "All counties by every system: {wildcards.family}"
    script:
        "../scripts/comparison/run_systems.py"


rule collect_comparison:
    input:
        **{
            kind: expand(rules.run_systems.output[kind], family=SYSTEM_FAMILIES)
            for kind in MEASURED
        },
        histogram=config["topdown"]["histogram"],
        published=config["data"]["published"],
        provenance=rules.fetch_demonstration_data.output.provenance,
        local=[local_file(config)] if local_file(config) else [],
    output:
        **comparison_tables(),
        **comparison_figures(),
    log:
        logs("collect_comparison"),
    benchmark:
        benchmarks("collect_comparison")
    conda:
        ENVIRONMENT
    params:
        library=library("comparison/collect_comparison"),
        comparison=COMPARISON,
        cache="results/data/download",
    message:
        "Tables and figures of every system on one table"
    script:
        "../scripts/comparison/collect_comparison.py"


SENT |= {"run_systems"}
