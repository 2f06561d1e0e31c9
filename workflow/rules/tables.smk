"""Rule by which each study renders its CSV tables for readers."""


rule render_tables:
    log:
        logs("render_tables"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        descriptions=DESCRIPTION_FILES,
    message:
        "Tables for readers"
    script:
        "../scripts/review/render_tables.py"
