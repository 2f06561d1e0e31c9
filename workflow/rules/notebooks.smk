"""Reviewing notebooks, run on the finished results: a page each, readable offline."""


rule execute_notebook:
    input:
        rules.everything.input,
        notebook=str(HERE / "notebooks/{notebook}.ipynb"),
        config="results/config.yaml",
        library=library("execute_notebook"),
    output:
        page="results/notebooks/{notebook}.html",
    log:
        "results/logs/execute_notebook_{notebook}.log",
    benchmark:
        "results/benchmarks/execute_notebook_{notebook}.tsv"
    wildcard_constraints:
        notebook=r"\w+",
    conda:
        "../../environment.yml"
    params:
        settings=SETTINGS,
    message:
        "Reviewing notebook {wildcards.notebook}"
    script:
        "../scripts/execute_notebook.py"
