"""The counts: published ones, and beside them the Census Bureau's demonstration data."""


rule fetch_demonstration_data:
    input:
        local=[local_file(config)] if local_file(config) else [],
        ledger=config["data"]["ledger"],
        ledger_schema=str(HERE / "workflow/schemas/sources.schema.yaml"),
        published=config["data"]["published"],
    output:
        counties="results/data/counties.csv",
        provenance="results/data/provenance.json",
    log:
        logs("fetch_demonstration_data"),
    benchmark:
        benchmarks("fetch_demonstration_data")
    conda:
        ENVIRONMENT
    params:
        library=library("data/fetch_demonstration_data"),
        vintage=config["data"]["vintage"],
        cache="results/data/download",
    message:
        "Demonstration data of vintage {params.vintage}: local file, download, or published counts"
    script:
        "../scripts/data/fetch_demonstration_data.py"
