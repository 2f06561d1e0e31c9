"""County totals under each state's total (ISDP, Sections 5 and E.4)."""

COUNTIES = config["counties"]

config["words"]["counties"] = (
    "Generalized Laplace mechanism, {norm} norm (l1 is inferred, see the config), epsilon = "
    "{epsilon:g} per unit of norm, one invariant: the state's total. {chains} chains of {draws} "
    "kept draws, {thin} sweeps apart, after {burn_in} sweeps of burn-in from starts drawn at "
    "epsilon = {overdispersed[epsilon]:g} (ours). Basis ``{basis}``, acceptance ``{acceptance}``, "
    "proposal parameter {proposal:g} (ours). Seed {seed}."
).format(seed=config["seed"], **COUNTIES) + why_these_states()


checkpoint select_states:
    input:
        regressions="results/tables/das_regressions.csv",
        provenance="results/data/provenance.json",
        library=library("counties/select_states"),
    output:
        states="results/tables/states.csv",
    log:
        "results/logs/select_states.log",
    conda:
        "../../environment.yml"
    params:
        states=COUNTIES["states"],
        stand_in=COUNTIES["stand_in_states"],
    message:
        "States to run"
    script:
        "../scripts/counties/select_states.py"


rule sample_counties:
    input:
        counties="results/data/counties.csv",
        library=library("counties/sample_counties"),
    output:
        draws="results/draws/counties_{state}.nc",
        speed="results/benchmarks/counties_sampling_{state}.json",
    log:
        "results/logs/sample_counties_{state}.log",
    benchmark:
        "results/benchmarks/sample_counties_{state}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
    params:
        **{
            key: COUNTIES[key]
            for key in (
                "epsilon",
                "norm",
                "chains",
                "draws",
                "burn_in",
                "thin",
                "basis",
                "acceptance",
                "proposal",
                "overdispersed",
            )
        },
        seed=config["seed"],
    message:
        "Noise for the counties of {wildcards.state}"
    script:
        "../scripts/counties/sample_counties.py"


rule summarise_counties:
    input:
        counties="results/data/counties.csv",
        draws="results/draws/counties_{state}.nc",
        exact="results/draws/exact_counties_{state}.nc",
        library=library("counties/summarise_counties"),
    output:
        rhat="results/summaries/counties_{state}_rhat.csv",
        noise="results/summaries/counties_{state}_noise.csv",
        state="results/summaries/counties_{state}_state.csv",
        boxes="results/figures/counties_{state}.csv",
        exact_noise="results/summaries/exact_counties_{state}_noise.csv",
        exact_state="results/summaries/exact_counties_{state}_state.csv",
        exact_boxes="results/figures/counties_{state}_exact.csv",
    log:
        "results/logs/summarise_counties_{state}.log",
    benchmark:
        "results/benchmarks/summarise_counties_{state}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
    params:
        epsilon=COUNTIES["epsilon"],
        norm=COUNTIES["norm"],
    message:
        "Convergence and summaries for {wildcards.state}"
    script:
        "../scripts/counties/summarise_counties.py"


rule plot_counties:
    input:
        boxes="results/figures/counties_{state}.csv",
        exact_boxes="results/figures/counties_{state}_exact.csv",
        projected_boxes="results/figures/projection_{state}.csv",
        library=library("counties/plot_counties"),
    output:
        **figure_outputs(
            "counties_{state}",
            "{state}",
            "Counties",
            caption="counties",
            subcategory="Noise of each county (ISDP Figs 2, 8)",
        ),
        **figure_outputs(
            "counties_{state}_exact",
            "{state}",
            "Counties",
            key="exact_",
            caption="counties_exact",
            subcategory="Exact draws",
        ),
        **figure_outputs(
            "projection_{state}",
            "{state}",
            "Counties",
            key="projected_",
            caption="projection",
            subcategory="Projected noise (ISDP Figs 9, 10)",
        ),
    log:
        "results/logs/plot_counties_{state}.log",
    benchmark:
        "results/benchmarks/plot_counties_{state}.tsv"
    conda:
        "../../environment.yml"
    params:
        epsilon=COUNTIES["epsilon"],
        norm=COUNTIES["norm"],
        chains=COUNTIES["chains"],
        draws=COUNTIES["draws"],
        simulations=config["projection"]["simulations"],
    message:
        "Figures of {wildcards.state}"
    script:
        "../scripts/counties/plot_counties.py"


rule collect_counties:
    input:
        rhat=for_each_state("results/summaries/counties_{state}_rhat.csv"),
        noise=for_each_state("results/summaries/counties_{state}_noise.csv"),
        state=for_each_state("results/summaries/counties_{state}_state.csv"),
        speed=for_each_state("results/benchmarks/counties_sampling_{state}.json"),
        library=library("counties/collect_counties"),
    output:
        **table_outputs(
            "counties_rhat",
            "R-hat of each county of each state",
            "Counties",
            key="rhat_",
            subcategory="Convergence",
        ),
        **table_outputs(
            "counties_noise",
            "Noise of each county of each state",
            "Counties",
            key="noise_",
            subcategory="Noise of each county (ISDP Figs 2, 8)",
        ),
        **table_outputs(
            "counties_states",
            "The states at a glance",
            "Counties",
            key="states_",
            subcategory="Convergence",
        ),
        **figure_outputs(
            "counties_convergence",
            "R-hat and effective draws",
            "Counties",
            subcategory="Convergence",
        ),
        strips="results/figures/counties_convergence.csv",
        speed="results/benchmarks/counties_sampling.csv",
    log:
        "results/logs/collect_counties.log",
    benchmark:
        "results/benchmarks/collect_counties.tsv"
    conda:
        "../../environment.yml"
    params:
        chains=COUNTIES["chains"],
        draws=COUNTIES["draws"],
    message:
        "Tables of all states"
    script:
        "../scripts/counties/collect_counties.py"
