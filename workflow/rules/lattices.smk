"""Experiments on integer lattices: coupling bounds, noise, tables (ISDP, Sections 5, E.2, E.3)."""

LATTICES = config["lattices"]["experiments"]
VARIANTS, COUPLING, NOISE = (config["lattices"][key] for key in ("variants", "coupling", "noise"))


wildcard_constraints:
    experiment=any_of(LATTICES),
    law=any_of({law: None for entry in LATTICES.values() for law in entry["laws"]}),


include: "functions/lattices.smk"


rule couple_chains:
    output:
        curves="results/coupling/{experiment}_{law}_curves.csv",
        trails="results/coupling/{experiment}_{law}_lags.csv",
        meetings="results/coupling/{experiment}_{law}_meetings.csv",
        seconds="results/benchmarks/coupling_{experiment}_{law}.csv",
    log:
        logs("couple_chains_{experiment}_{law}"),
    benchmark:
        benchmarks("couple_chains_{experiment}_{law}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        library=library("lattices/couple_chains"),
        seed=config["seed"],
        entry=experiment_of,
        law=law_of,
        variants=VARIANTS,
        coupling=COUPLING,
    message:
        "Coupled chains of {wildcards.experiment}, {wildcards.law}"
    script:
        "../scripts/lattices/couple_chains.py"


rule collect_coupling:
    input:
        meetings=of_every_law(rules.couple_chains.output.meetings),
        seconds=of_every_law(rules.couple_chains.output.seconds),
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
        logs("collect_coupling"),
    benchmark:
        benchmarks("collect_coupling")
    conda:
        ENVIRONMENT
    params:
        library=library("lattices/collect_coupling"),
    message:
        "Meeting times of all experiments"
    script:
        "../scripts/lattices/collect_coupling.py"


rule plot_tv_bound:
    input:
        curves=rules.couple_chains.output.curves,
        trails=rules.couple_chains.output.trails,
        distances=later("follow_distance", "distances"),
    output:
        # not in the report, whose figure of all laws has these panels
        svg="results/figures/{experiment}_tv_bound_{law}.svg",
        png="results/figures/{experiment}_tv_bound_{law}.png",
        data="results/figures/{experiment}_tv_bound_{law}.csv",
    log:
        logs("plot_tv_bound_{experiment}_{law}"),
    benchmark:
        benchmarks("plot_tv_bound_{experiment}_{law}")
    conda:
        ENVIRONMENT
    params:
        library=library("lattices/plot_tv_bound"),
        law=law_of,
        runs=COUPLING["runs"],
    message:
        "Bound on the distance to the target: {wildcards.experiment}, {wildcards.law}"
    script:
        "../scripts/lattices/plot_tv_bound.py"


rule sample_lattice:
    input:
        meetings=rules.couple_chains.output.meetings,
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
        logs("sample_lattice_{experiment}_{law}"),
    benchmark:
        benchmarks("sample_lattice_{experiment}_{law}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        library=library("lattices/sample_lattice"),
        seed=config["seed"],
        entry=experiment_of,
        law=law_of,
        variants=VARIANTS,
        noise=NOISE,
        cap=COUPLING["cap"],
    message:
        "Noise of {wildcards.experiment}, {wildcards.law}"
    script:
        "../scripts/lattices/sample_lattice.py"


rule summarise_lattice:
    input:
        draws=for_each(rules.sample_lattice.output.draws, law=laws_of),
        exact=for_each(later("draw_exact_lattice", "draws"), law=laws_of),
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
        logs("summarise_lattice_{experiment}"),
    benchmark:
        benchmarks("summarise_lattice_{experiment}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2500,
    params:
        library=library("lattices/summarise_lattice"),
        seed=config["seed"],
        laws=laws_of,
    message:
        "Noise of {wildcards.experiment}, cell by cell, and against exact draws"
    script:
        "../scripts/lattices/summarise_lattice.py"


rule collect_norms:
    input:
        norms=expand(str(rules.summarise_lattice.output.norms), experiment=LATTICES),
    output:
        **table_outputs(
            "lattice_norms", "The norm, and the rule of thumb", "Lattices", subcategory="Noise"
        ),
    log:
        logs("collect_norms"),
    benchmark:
        benchmarks("collect_norms")
    conda:
        ENVIRONMENT
    params:
        library=library("lattices/collect_norms"),
    message:
        "Norms of the noise of all experiments"
    script:
        "../scripts/lattices/collect_norms.py"


rule plot_lattice:
    input:
        boxes=rules.summarise_lattice.output.boxes,
        exact_boxes=rules.summarise_lattice.output.exact_boxes,
        laws=rules.summarise_lattice.output.laws,
        agreement=rules.summarise_lattice.output.agreement,
        curves=for_each(rules.couple_chains.output.curves, law=laws_of),
        trails=for_each(rules.couple_chains.output.trails, law=laws_of),
        distances=later("follow_distance", "distances"),
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
        logs("plot_lattice_{experiment}"),
    benchmark:
        benchmarks("plot_lattice_{experiment}")
    conda:
        ENVIRONMENT
    params:
        library=library("lattices/plot_lattice"),
        laws=laws_of,
        runs=COUPLING["runs"],
        realisations=NOISE["chains"] * NOISE["draws"],
        exact_realisations=config["exactness"]["draws"],
    message:
        "Figures of {wildcards.experiment}"
    script:
        "../scripts/lattices/plot_lattice.py"


rule plot_constraints:
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
        logs("plot_constraints_{experiment}"),
    benchmark:
        benchmarks("plot_constraints_{experiment}")
    wildcard_constraints:
        experiment=any_of(having("constraints")),
    conda:
        ENVIRONMENT
    params:
        library=library("lattices/plot_constraints"),
        entry=experiment_of,
    message:
        "Figure of the constraints of {wildcards.experiment}"
    script:
        "../scripts/lattices/plot_constraints.py"


rule print_confidential:
    output:
        **table_outputs(
            "{experiment}_confidential",
            "Confidential counts: {experiment}",
            "Lattices",
            subcategory="Noise",
            caption="confidential",
        ),
    log:
        logs("print_confidential_{experiment}"),
    wildcard_constraints:
        experiment=any_of(having("axes", "counts")),
    conda:
        ENVIRONMENT
    params:
        library=library("lattices/print_confidential"),
        entry=experiment_of,
    message:
        "Confidential counts of {wildcards.experiment}"
    script:
        "../scripts/lattices/print_confidential.py"


rule place_printed:
    input:
        draws=for_each(rules.sample_lattice.output.draws, law=printed_laws),
    output:
        **table_outputs(
            "{experiment}_printed",
            "The paper's printed noise: {experiment}",
            "Lattices",
            subcategory="Noise",
            caption="printed",
        ),
    log:
        logs("place_printed_{experiment}"),
    wildcard_constraints:
        experiment=any_of(having("printed")),
    conda:
        ENVIRONMENT
    params:
        library=library("lattices/place_printed"),
        printed=printed_of,
        laws=printed_laws,
    message:
        "The printed noise tables of {wildcards.experiment} within our laws"
    script:
        "../scripts/lattices/place_printed.py"


GOALS += [
    rules.collect_coupling.output.meetings_csv,
    *expand(str(rules.plot_lattice.output.noise_svg), experiment=LATTICES),
    *expand(str(rules.plot_constraints.output.svg), experiment=having("constraints")),
    *expand(str(rules.print_confidential.output.csv), experiment=having("axes", "counts")),
    *expand(str(rules.place_printed.output.csv), experiment=having("printed")),
    *of_every_law(rules.plot_tv_bound.output.svg, "printed"),
]
DRAWS += of_every_law(rules.sample_lattice.output.draws)
SENT |= {"couple_chains", "sample_lattice"}
