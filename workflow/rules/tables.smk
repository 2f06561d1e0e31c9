"""Define the rule that renders the CSV tables of a study as Markdown and HTML."""


rule render_tables:
    log:
        logs("render_tables"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        descriptions=DESCRIPTION_FILES,
    message:
        "Rendering tables as Markdown and HTML"
    script:
        "../scripts/review/render_tables.py"
