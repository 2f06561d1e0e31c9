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
        paper="results/draws/paper_{experiment}_{law}.nc",
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


rule describe_lattice:
    input:
        draws=for_each(rules.sample_lattice.output.draws, law=laws_of),
        paper=for_each(rules.sample_lattice.output.paper, law=laws_of),
        exact=for_each(later("draw_exact_lattice", "draws"), law=laws_of),
        curves=for_each(rules.couple_chains.output.curves, law=laws_of),
        trails=for_each(rules.couple_chains.output.trails, law=laws_of),
        distances=later("follow_distance", "distances"),
    output:
        **table_outputs(
            "{experiment}_noise_summary",
            "Noise of each cell: {experiment}",
            "Lattices",
            key="noise_",
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
        noise_boxes="results/figures/{experiment}_noise.csv",
        exact_boxes="results/figures/{experiment}_noise_exact.csv",
        laws="results/figures/exact_{experiment}.csv",
        bound_data="results/figures/{experiment}_tv_bound.csv",
        norms="results/summaries/{experiment}_norms.csv",
        agreement="results/summaries/exact_{experiment}_agreement.csv",
    log:
        logs("describe_lattice_{experiment}"),
    benchmark:
        benchmarks("describe_lattice_{experiment}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2500,
    params:
        library=library("lattices/describe_lattice"),
        seed=config["seed"],
        laws=laws_of,
        variant=NOISE["variant"],
        runs=COUPLING["runs"],
        realisations=NOISE["chains"] * NOISE["draws"],
        exact_realisations=config["exactness"]["draws"],
    message:
        "Noise of {wildcards.experiment}, cell by cell, against exact draws, and the bounds"
    script:
        "../scripts/lattices/describe_lattice.py"


rule collect_lattices:
    input:
        meetings=of_every_law(rules.couple_chains.output.meetings),
        seconds=of_every_law(rules.couple_chains.output.seconds),
        norms=expand(str(rules.describe_lattice.output.norms), experiment=LATTICES),
        curves=of_every_law(rules.couple_chains.output.curves, "printed"),
        trails=of_every_law(rules.couple_chains.output.trails, "printed"),
        distances=for_each(later("follow_distance", "distances"), experiment=having("printed")),
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
        **table_outputs(
            "lattice_norms",
            "The norm, and the rule of thumb",
            "Lattices",
            subcategory="Noise",
            key="norms_",
        ),
        # not in the report, whose figures of all laws have these panels
        svg=of_every_law("results/figures/{experiment}_tv_bound_{law}.svg", "printed"),
        png=of_every_law("results/figures/{experiment}_tv_bound_{law}.png", "printed"),
        csv=of_every_law("results/figures/{experiment}_tv_bound_{law}.csv", "printed"),
    log:
        logs("collect_lattices"),
    benchmark:
        benchmarks("collect_lattices")
    conda:
        ENVIRONMENT
    params:
        library=library("lattices/collect_lattices"),
        laws={name: printed_laws_of(name) for name in having("printed")},
        runs=COUPLING["runs"],
    message:
        "Meeting times and norms of all experiments, and the bounds that the paper draws"
    script:
        "../scripts/lattices/collect_lattices.py"


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
    rules.collect_lattices.output.meetings_csv,
    *expand(str(rules.plot_constraints.output.svg), experiment=having("constraints")),
    *expand(str(rules.print_confidential.output.csv), experiment=having("axes", "counts")),
    *expand(str(rules.place_printed.output.csv), experiment=having("printed")),
]
DRAWS += of_every_law(rules.sample_lattice.output.draws)
DRAWS += of_every_law(rules.sample_lattice.output.paper)
SENT |= {"couple_chains", "sample_lattice"}
