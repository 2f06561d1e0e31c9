"""County noise: projected discrete Laplace beside ours, and truncation at zero (ISDP, E.4)."""

PROJECTION = config["projection"]

config["words"]["projection"] = (
    "Double geometric noise of epsilon = {epsilon:g} in every county, moved to the l1-nearest "
    "vector with the state's total; {simulations} simulations, of which {checked} were solved by "
    "HiGHS, as a linear and as an integer programme (ISDP, E.4). Seed {seed}."
).format(
    epsilon=COUNTIES["epsilon"],
    seed=config["seed"],
    simulations=PROJECTION["simulations"],
    checked=min(PROJECTION["checked"], PROJECTION["simulations"]),
)


rule project_counties:
    input:
        counties="results/data/counties.csv",
        draws="results/draws/counties_{state}.nc",
        library=library("counties/project_counties"),
    output:
        summary="results/summaries/projection_{state}.csv",
        boxes="results/figures/projection_{state}.csv",
    log:
        "results/logs/project_counties_{state}.log",
    benchmark:
        "results/benchmarks/project_counties_{state}.tsv"
    conda:
        "../../environment.yml"
    params:
        **PROJECTION,
        seed=config["seed"],
        epsilon=COUNTIES["epsilon"],
    message:
        "Projected noise for the counties of {wildcards.state}"
    script:
        "../scripts/counties/project_counties.py"


rule collect_projection:
    input:
        summaries=for_each_state("results/summaries/projection_{state}.csv"),
        library=library("counties/collect_projection"),
    output:
        **table_outputs(
            "projection_summary",
            "Spread, tails and overlap",
            "Counties",
            subcategory="Projected noise (ISDP Figs 9, 10)",
        ),
    log:
        "results/logs/collect_projection.log",
    conda:
        "../../environment.yml"
    message:
        "Projected noise of all states"
    script:
        "../scripts/counties/collect_projection.py"


rule truncate_counties:
    input:
        counties="results/data/counties.csv",
        sampled="results/tables/counties_states.csv",
        library=library("counties/truncate_counties"),
    output:
        **table_outputs("truncation", "Each state", "Counties", subcategory="Truncation at zero"),
        **figure_outputs(
            "truncation", "What it would take", "Counties", subcategory="Truncation at zero"
        ),
        counties="results/summaries/truncation_counties.csv",
        data="results/figures/truncation.csv",
    log:
        "results/logs/truncate_counties.log",
    benchmark:
        "results/benchmarks/truncate_counties.tsv"
    conda:
        "../../environment.yml"
    params:
        epsilon=COUNTIES["epsilon"],
        epsilons=config["truncation"]["epsilons"],
    message:
        "Truncation of county counts at zero, all states"
    script:
        "../scripts/counties/truncate_counties.py"
