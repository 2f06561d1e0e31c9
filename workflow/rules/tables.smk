"""The rule that each study uses to render its csv tables for readers."""


rule render_tables:
    log:
        logs("render_tables"),
    localrule: True
    conda:
        ENVIRONMENT
    message:
        "Tables for readers"
    script:
        "../scripts/review/render_tables.py"
