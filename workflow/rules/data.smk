"""The counts: published ones, and beside them the Census Bureau's demonstration data."""


rule fetch_demonstration_data:
    message:
        "Demonstration data of vintage {params.vintage}: local file, download, or published counts"
    input:
        local=[local_file()] if local_file() else [],
        ledger=config["data"]["ledger"],
        published=config["data"]["published"],
        library=library("fetch", "census", "files", "logs"),
    output:
        counties="results/data/counties.csv",
        provenance="results/data/provenance.json",
    params:
        vintage=config["data"]["vintage"],
        cache="results/data/download",
    log:
        "results/logs/fetch_demonstration_data.log",
    benchmark:
        "results/benchmarks/fetch_demonstration_data.tsv"
    script:
        "../scripts/fetch_demonstration_data.py"


rule regress_das_errors:
    message:
        "Regressions of the DAS errors on log population, a state each"
    input:
        counties="results/data/counties.csv",
        library=library("regression", "plotting", "files", "logs"),
    output:
        csv=report(
            "results/tables/das_regressions.csv",
            caption="../report/das_regressions.rst",
            category="Counties",
            subcategory="Errors of the Census DAS",
            labels={"what": "Regressions in 48 states and territories", "type": "table"},
        ),
        md="results/tables/das_regressions.md",
        slopes="results/figures/das_slopes.csv",
        svg=report(
            "results/figures/das_slopes.svg",
            caption="../report/das_slopes.rst",
            category="Counties",
            subcategory="Errors of the Census DAS",
            labels={"what": "All slopes (SDP Fig 1, left)", "type": "figure"},
        ),
        png="results/figures/das_slopes.png",
    log:
        "results/logs/regress_das_errors.log",
    benchmark:
        "results/benchmarks/regress_das_errors.tsv"
    script:
        "../scripts/regress_das_errors.py"
