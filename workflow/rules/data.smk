"""The counts: published ones, and beside them the Census Bureau's demonstration data."""


rule fetch_demonstration_data:
    input:
        local=[local_file(config)] if local_file(config) else [],
        ledger=config["data"]["ledger"],
        published=config["data"]["published"],
        library=library("data/fetch_demonstration_data"),
    output:
        counties="results/data/counties.csv",
        provenance="results/data/provenance.json",
    log:
        "results/logs/fetch_demonstration_data.log",
    benchmark:
        "results/benchmarks/fetch_demonstration_data.tsv"
    conda:
        "../../environment.yml"
    params:
        vintage=config["data"]["vintage"],
        cache="results/data/download",
    message:
        "Demonstration data of vintage {params.vintage}: local file, download, or published counts"
    script:
        "../scripts/data/fetch_demonstration_data.py"


rule regress_das_errors:
    input:
        counties="results/data/counties.csv",
        library=library("counties/regress_das_errors"),
    output:
        **table_outputs(
            "das_regressions",
            "Regressions in 48 states and territories",
            "Counties",
            subcategory="Errors of the Census DAS",
        ),
        **figure_outputs(
            "das_slopes",
            "All slopes (SDP Fig 1, left)",
            "Counties",
            subcategory="Errors of the Census DAS",
        ),
        slopes="results/figures/das_slopes.csv",
    log:
        "results/logs/regress_das_errors.log",
    benchmark:
        "results/benchmarks/regress_das_errors.tsv"
    conda:
        "../../environment.yml"
    message:
        "Regressions of the DAS errors on log population, a state each"
    script:
        "../scripts/counties/regress_das_errors.py"
