"""The front page: every verdict, with links to where it comes from."""


rule build_front_page:
    input:
        rules.everything.input,
        states="results/tables/states.csv",
        config="results/config.yaml",
        usual=str(HERE / "config/config.yaml"),
        claims="config/claims.yaml",
        claims_schema="workflow/schemas/claims.schema.yaml",
        figures="config/figures.yaml",
        figures_schema="workflow/schemas/figures.schema.yaml",
        template=str(HERE / "workflow/report/index.html.j2"),
        notebooks=rules.execute_notebooks.input.notebooks,
        library=library("review/build_front_page"),
    output:
        page="results/index.html",
    log:
        "results/logs/build_front_page.log",
    conda:
        "../../environment.yml"
    params:
        made=made_by_rules,
    message:
        "Front page: results/index.html"
    script:
        "../scripts/review/build_front_page.py"
