"""The rule that each study uses to render its csv tables for readers."""


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
