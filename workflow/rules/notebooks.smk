"""Reviewing notebooks, run on the finished results: a page each, readable offline."""

NOTEBOOKS = sorted(path.stem for path in (BASE / "notebooks").glob("*.ipynb"))


rule execute_notebooks:
    input:
        rules.everything.input,
        notebooks=[str(HERE / f"notebooks/{name}.ipynb") for name in NOTEBOOKS],
        config="results/config.yaml",
        library=library("review/execute_notebooks"),
    output:
        pages=expand("results/notebooks/{notebook}.html", notebook=NOTEBOOKS),
    log:
        "results/logs/execute_notebooks.log",
    benchmark:
        "results/benchmarks/execute_notebooks.tsv"
    conda:
        "../../environment.yml"
    params:
        at_once=2,  # kernels, which mostly wait to start
        settings=SETTINGS,
    message:
        "Reviewing notebooks"
    script:
        "../scripts/review/execute_notebooks.py"
