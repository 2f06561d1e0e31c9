"""The scorecard, and Snakemake's own report of everything."""

SCORED_TABLES = [
    "counties_rhat",
    "counties_noise",
    "counties_states",
    "das_regressions",
    "draws_verified",
]


rule scorecard:
    message:
        "Verdicts on the papers' claims"
    input:
        claims="config/claims.yaml",
        schema="workflow/schemas/claims.schema.yaml",
        provenance="results/data/provenance.json",
        tables=expand("results/tables/{table}.csv", table=SCORED_TABLES),
        library=library("scorecard", "files", "logs"),
    output:
        csv=report(
            "results/tables/scorecard.csv",
            caption="../report/scorecard.rst",
            category="Scorecard",
            labels={"what": "What the papers claim, and what this run found", "type": "table"},
        ),
        md="results/tables/scorecard.md",
        summary="results/tables/scorecard.txt",
    log:
        "results/logs/scorecard.log",
    benchmark:
        "results/benchmarks/scorecard.tsv"
    script:
        "../scripts/scorecard.py"


rule everything:
    input:
        "results/tables/scorecard.csv",
        for_each_state("results/figures/counties_{state}.svg"),


rule build_report:
    message:
        "Report: results/report.html"
    input:
        rules.everything.input,
        captions=sorted(str(path) for path in (BASE / "workflow/report").glob("*.rst")),
    output:
        report="results/report.html",
        config="results/config.yaml",
    params:
        snakefile=workflow.main_snakefile,
        config_keys=CONFIG_KEYS,
    log:
        "results/logs/build_report.log",
    benchmark:
        "results/benchmarks/build_report.tsv"
    script:
        "../scripts/build_report.py"
