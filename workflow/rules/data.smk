"""Obtain the demonstration data (NHGIS), and combine them with the published counts."""


rule fetch_demonstration_data:
    input:
        local=[find_local_file(config)] if find_local_file(config) else [],
        ledger=LEDGER,
        published=PUBLISHED,
    output:
        counties="results/data/counties.csv",
        provenance="results/data/provenance.json",
    log:
        logs("fetch_demonstration_data"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code(),
        vintage=config["data"]["vintage"],
        cache="results/data/download",
    message:
        "Obtaining the demonstration data of vintage {params.vintage}"
    script:
        "../scripts/data/fetch_demonstration_data.py"
