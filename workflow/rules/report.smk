"""The scorecard, and Snakemake's own report of everything."""

SCORED_TABLES = [
    "counties_rhat",
    "counties_noise",
    "counties_states",
    "das_regressions",
    "draws_verified",
]


rule scorecard:
    input:
        claims="config/claims.yaml",
        schema="workflow/schemas/claims.schema.yaml",
        provenance="results/data/provenance.json",
        tables=expand("results/tables/{table}.csv", table=SCORED_TABLES),
        library=library("scorecard"),
    output:
        **table_outputs("scorecard", "The papers' claims, and what this run found", "Scorecard"),
        summary="results/tables/scorecard.txt",
    log:
        "results/logs/scorecard.log",
    benchmark:
        "results/benchmarks/scorecard.tsv"
    conda:
        "../../environment.yml"
    message:
        "Verdicts on the papers' claims"
    script:
        "../scripts/scorecard.py"


rule everything:
    input:
        "results/tables/scorecard.csv",
        for_each_state("results/figures/counties_{state}.svg"),


rule build_report:
    input:
        rules.everything.input,
        # captions, labels and categories live here
        wording=sorted(str(path) for path in (BASE / "workflow").glob("r*/*.[rs]*")),
    output:
        report="results/report.html",
        config="results/config.yaml",
    log:
        "results/logs/build_report.log",
    benchmark:
        "results/benchmarks/build_report.tsv"
    conda:
        "../../environment.yml"
    params:
        snakefile=workflow.main_snakefile,
        config_keys=CONFIG_KEYS,
    message:
        "Report: results/report.html"
    script:
        "../scripts/build_report.py"
