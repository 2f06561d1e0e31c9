"""Experiments on integer lattices: coupling bounds, noise, tables (ISDP, Sections 5, E.2, E.3)."""


rule couple_chains:
    input:
        library=library("lattices/couple_chains"),
    output:
        curves="results/coupling/{experiment}_{law}_curves.csv",
        trails="results/coupling/{experiment}_{law}_lags.csv",
        meetings="results/coupling/{experiment}_{law}_meetings.csv",
        seconds="results/benchmarks/coupling_{experiment}_{law}.csv",
    log:
        "results/logs/couple_chains_{experiment}_{law}.log",
    benchmark:
        "results/benchmarks/couple_chains_{experiment}_{law}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
    params:
        seed=config["seed"],
        entry=experiment_of,
        law=law_of,
        variants=config["variants"],
        coupling=config["coupling"],
    message:
        "Coupled chains of {wildcards.experiment}, {wildcards.law}"
    script:
        "../scripts/lattices/couple_chains.py"


rule collect_coupling:
    input:
        meetings=of_every_law("results/coupling/{experiment}_{law}_meetings.csv"),
        seconds=of_every_law("results/benchmarks/coupling_{experiment}_{law}.csv"),
        library=library("lattices/collect_coupling"),
    output:
        **table_outputs(
            "meeting_times",
            "Meeting times",
            "Lattices",
            subcategory="Convergence",
            key="meetings_",
        ),
        **table_outputs(
            "lattice_convergence",
            "Iterations until the bound is below 0.01",
            "Lattices",
            subcategory="Convergence",
            key="convergence_",
        ),
        **table_outputs(
            "lattice_convergence_speed",
            "Time until the bound is below 0.01",
            "Lattices",
            subcategory="Convergence",
            key="speed_",
            folder="results/benchmarks",
        ),
    log:
        "results/logs/collect_coupling.log",
    benchmark:
        "results/benchmarks/collect_coupling.tsv"
    conda:
        "../../environment.yml"
    message:
        "Meeting times of all experiments"
    script:
        "../scripts/lattices/collect_coupling.py"


rule plot_tv_bound:
    input:
        curves="results/coupling/{experiment}_{law}_curves.csv",
        trails="results/coupling/{experiment}_{law}_lags.csv",
        distances="results/coupling/{experiment}_distances.csv",
        library=library("lattices/plot_tv_bound"),
    output:
        **figure_outputs(
            "{experiment}_tv_bound_{law}",
            "{experiment}, {law}",
            "Lattices",
            subcategory="Convergence",
            caption="tv_bound",
        ),
        data="results/figures/{experiment}_tv_bound_{law}.csv",
    log:
        "results/logs/plot_tv_bound_{experiment}_{law}.log",
    benchmark:
        "results/benchmarks/plot_tv_bound_{experiment}_{law}.tsv"
    conda:
        "../../environment.yml"
    params:
        law=law_of,
        runs=config["coupling"]["runs"],
    message:
        "Bound on the distance to the target: {wildcards.experiment}, {wildcards.law}"
    script:
        "../scripts/lattices/plot_tv_bound.py"


rule sample_lattice:
    input:
        meetings="results/coupling/{experiment}_{law}_meetings.csv",
        library=library("lattices/sample_lattice"),
    output:
        **table_outputs(
            "{experiment}_draw_{law}",
            "One draw: {experiment}, {law}",
            "Lattices",
            subcategory="Noise",
            caption="draw",
        ),
        draws="results/draws/{experiment}_{law}.nc",
    log:
        "results/logs/sample_lattice_{experiment}_{law}.log",
    benchmark:
        "results/benchmarks/sample_lattice_{experiment}_{law}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
    params:
        seed=config["seed"],
        entry=experiment_of,
        law=law_of,
        variants=config["variants"],
        noise=config["noise"],
        cap=config["coupling"]["cap"],
    message:
        "Noise of {wildcards.experiment}, {wildcards.law}"
    script:
        "../scripts/lattices/sample_lattice.py"


rule summarise_lattice:
    input:
        draws=of_all_its_laws("results/draws/{experiment}_{law}.nc"),
        exact=of_all_its_laws("results/draws/exact_{experiment}_{law}.nc"),
        library=library("lattices/summarise_lattice"),
    output:
        **table_outputs(
            "{experiment}_noise_summary",
            "Noise of each cell: {experiment}",
            "Lattices",
            subcategory="Noise",
            caption="noise_summary",
        ),
        **table_outputs(
            "{experiment}_noise_summary_exact",
            "Noise of each cell, exact draws: {experiment}",
            "Lattices",
            key="exact_",
            subcategory="Exact draws",
            caption="noise_summary_exact",
        ),
        boxes="results/figures/{experiment}_noise.csv",
        exact_boxes="results/figures/{experiment}_noise_exact.csv",
        laws="results/figures/exact_{experiment}.csv",
        norms="results/summaries/{experiment}_norms.csv",
        agreement="results/summaries/exact_{experiment}_agreement.csv",
    log:
        "results/logs/summarise_lattice_{experiment}.log",
    benchmark:
        "results/benchmarks/summarise_lattice_{experiment}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2500,
    params:
        seed=config["seed"],
        laws=laws_of,
    message:
        "Noise of {wildcards.experiment}, cell by cell, and against exact draws"
    script:
        "../scripts/lattices/summarise_lattice.py"


rule collect_norms:
    input:
        norms=expand("results/summaries/{experiment}_norms.csv", experiment=LATTICES),
        library=library("lattices/collect_norms"),
    output:
        **table_outputs(
            "lattice_norms", "The norm, and the rule of thumb", "Lattices", subcategory="Noise"
        ),
    log:
        "results/logs/collect_norms.log",
    benchmark:
        "results/benchmarks/collect_norms.tsv"
    conda:
        "../../environment.yml"
    message:
        "Norms of the noise of all experiments"
    script:
        "../scripts/lattices/collect_norms.py"


rule plot_lattice:
    input:
        boxes="results/figures/{experiment}_noise.csv",
        exact_boxes="results/figures/{experiment}_noise_exact.csv",
        laws="results/figures/exact_{experiment}.csv",
        agreement="results/summaries/exact_{experiment}_agreement.csv",
        curves=of_all_its_laws("results/coupling/{experiment}_{law}_curves.csv"),
        trails=of_all_its_laws("results/coupling/{experiment}_{law}_lags.csv"),
        distances="results/coupling/{experiment}_distances.csv",
        library=library("lattices/plot_lattice"),
    output:
        **figure_outputs(
            "{experiment}_tv_bound",
            "{experiment}, all laws",
            "Lattices",
            key="bound_",
            subcategory="Convergence",
            caption="tv_bound",
        ),
        **figure_outputs(
            "{experiment}_noise",
            "Noise of each cell: {experiment}",
            "Lattices",
            key="noise_",
            subcategory="Noise",
            caption="lattice_noise",
        ),
        **figure_outputs(
            "{experiment}_noise_exact",
            "Noise of each cell, exact draws: {experiment}",
            "Lattices",
            key="exact_",
            subcategory="Exact draws",
            caption="lattice_noise_exact",
        ),
        **figure_outputs(
            "exact_{experiment}",
            "Both laws on top of each other: {experiment}",
            "Lattices",
            key="laws_",
            subcategory="Exact draws",
            caption="exact_laws",
        ),
        bound_data="results/figures/{experiment}_tv_bound.csv",
    log:
        "results/logs/plot_lattice_{experiment}.log",
    benchmark:
        "results/benchmarks/plot_lattice_{experiment}.tsv"
    conda:
        "../../environment.yml"
    params:
        laws=laws_of,
        runs=config["coupling"]["runs"],
        realisations=config["noise"]["chains"] * config["noise"]["draws"],
        exact_realisations=config["exact"]["draws"],
    message:
        "Figures of {wildcards.experiment}"
    script:
        "../scripts/lattices/plot_lattice.py"


rule plot_constraints:
    input:
        library=library("lattices/plot_constraints"),
    output:
        **figure_outputs(
            "{experiment}_constraints",
            "The constraints: {experiment}",
            "Lattices",
            subcategory="Noise",
            caption="constraints",
        ),
        data="results/figures/{experiment}_constraints.csv",
    log:
        "results/logs/plot_constraints_{experiment}.log",
    benchmark:
        "results/benchmarks/plot_constraints_{experiment}.tsv"
    conda:
        "../../environment.yml"
    params:
        entry=experiment_of,
    message:
        "Figure of the constraints of {wildcards.experiment}"
    script:
        "../scripts/lattices/plot_constraints.py"


rule print_confidential:
    input:
        library=library("lattices/print_confidential"),
    output:
        **table_outputs(
            "{experiment}_confidential",
            "Confidential counts: {experiment}",
            "Lattices",
            subcategory="Noise",
            caption="confidential",
        ),
    log:
        "results/logs/print_confidential_{experiment}.log",
    conda:
        "../../environment.yml"
    params:
        entry=experiment_of,
    message:
        "Confidential counts of {wildcards.experiment}"
    script:
        "../scripts/lattices/print_confidential.py"


rule place_printed:
    input:
        draws=of_its_printed_laws("results/draws/{experiment}_{law}.nc"),
        library=library("lattices/place_printed"),
    output:
        **table_outputs(
            "{experiment}_printed",
            "The paper's printed noise: {experiment}",
            "Lattices",
            subcategory="Noise",
            caption="printed",
        ),
    log:
        "results/logs/place_printed_{experiment}.log",
    conda:
        "../../environment.yml"
    params:
        printed=lambda wildcards: LATTICES[wildcards.experiment]["printed"],
        laws=printed_laws,
    message:
        "The printed noise tables of {wildcards.experiment} within our laws"
    script:
        "../scripts/lattices/place_printed.py"
