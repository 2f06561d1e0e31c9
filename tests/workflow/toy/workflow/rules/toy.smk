"""Signs at random."""


rule sample_toy:
    output:
        signs="results/tables/toy.csv",
        points="results/figures/toy.csv",
    log:
        logs("sample_toy"),
    benchmark:
        benchmarks("sample_toy")
    conda:
        ENVIRONMENT
    params:
        sources=code("toy"),
        seed=config["seed"],
        toy=config["toy"],
    message:
        "Signs at random"
    script:
        "../scripts/toy/sample_toy.py"


rule plot_toy:
    input:
        points="results/figures/toy.csv",
    output:
        **figure_files(signs="results/figures/toy.svg"),
    log:
        logs("plot_toy"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("toy"),
    message:
        "Figure of the signs"
    script:
        "../scripts/toy/plot_toy.py"


TOY_TABLES = ["results/tables/toy.csv"]


use rule render_tables as render_toy_tables with:
    input:
        TOY_TABLES,
    output:
        **rendered(TOY_TABLES),
    log:
        logs("render_toy_tables"),
    params:
        sources=presentation("toy", "review"),


rule toy:
    input:
        rules.plot_toy.output,
        rules.render_toy_tables.output,
