"""County totals under each state's total (ISDP, Sections 5 and E.4; SDP, Section 1).

The chains, the regressions of the Census Bureau's errors, projected noise, and truncation at zero.
"""

COUNTIES = config["counties"]
PROJECTION = COUNTIES["projection"]
WALK = (
    *("epsilon", "norm", "chains", "draws", "burn_in", "thin"),
    *("basis", "acceptance", "proposal", "overdispersed"),
)


include: "functions/counties.smk"


config["words"]["counties"] = (
    "Generalized Laplace mechanism, {norm} norm (l1 is inferred, see the config), epsilon = "
    "{epsilon:g} per unit of norm, one invariant: the state's total. {chains} chains of {draws} "
    "kept draws, {thin} sweeps apart, after {burn_in} sweeps of burn-in from starts drawn at "
    "epsilon = {overdispersed[epsilon]:g} (ours). Basis ``{basis}``, acceptance ``{acceptance}``, "
    "proposal parameter {proposal:g} (ours). Seed {seed}."
).format(seed=config["seed"], **COUNTIES) + why_these_states()

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


rule regress_das_errors:
    input:
        counties=rules.fetch_demonstration_data.output.counties,
        provenance=rules.fetch_demonstration_data.output.provenance,
    output:
        **table_outputs(
            "das_regressions",
            "Regressions in 48 states and territories",
            "Counties",
            subcategory="Errors of the Census DAS",
        ),
        **figure_outputs(
            "das_slopes",
            "All slopes (SDP Fig 1, left)",
            "Counties",
            subcategory="Errors of the Census DAS",
        ),
        slopes="results/figures/das_slopes.csv",
    log:
        logs("regress_das_errors"),
    benchmark:
        benchmarks("regress_das_errors")
    conda:
        ENVIRONMENT
    params:
        library=library("counties/regress_das_errors"),
    message:
        "Regressions of the DAS errors on log population, a state each"
    script:
        "../scripts/counties/regress_das_errors.py"


checkpoint select_states:
    input:
        regressions=rules.regress_das_errors.output.csv,
        provenance=rules.fetch_demonstration_data.output.provenance,
    output:
        states="results/tables/states.csv",
    log:
        logs("select_states"),
    conda:
        ENVIRONMENT
    params:
        library=library("counties/select_states"),
        states=COUNTIES["states"],
        stand_in=COUNTIES["stand_in_states"],
    message:
        "States to run"
    script:
        "../scripts/counties/select_states.py"


rule sample_counties:
    input:
        counties=rules.fetch_demonstration_data.output.counties,
    output:
        draws="results/draws/counties_{state}.nc",
        speed="results/benchmarks/counties_sampling_{state}.json",
    log:
        logs("sample_counties_{state}"),
    benchmark:
        benchmarks("sample_counties_{state}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        library=library("counties/sample_counties"),
        walk={key: COUNTIES[key] for key in WALK},
        seed=config["seed"],
    message:
        "Noise for the counties of {wildcards.state}"
    script:
        "../scripts/counties/sample_counties.py"


rule describe_counties:
    input:
        counties=rules.fetch_demonstration_data.output.counties,
        provenance=rules.fetch_demonstration_data.output.provenance,
        draws=rules.sample_counties.output.draws,
        exact=later("draw_exact_counties", "draws"),
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
            "noise of each county of a state, by exact draws",
            "Counties",
            key="exact_",
            left_out=True,
        ),
        rhat="results/summaries/counties_{state}_rhat.csv",
        noise="results/summaries/counties_{state}_noise.csv",
        state="results/summaries/counties_{state}_state.csv",
        boxes="results/figures/counties_{state}.csv",
        exact_noise="results/summaries/exact_counties_{state}_noise.csv",
        exact_state="results/summaries/exact_counties_{state}_state.csv",
        exact_boxes="results/figures/counties_{state}_exact.csv",
    log:
        logs("describe_counties_{state}"),
    benchmark:
        benchmarks("describe_counties_{state}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        library=library("counties/describe_counties"),
        epsilon=COUNTIES["epsilon"],
        norm=COUNTIES["norm"],
        chains=COUNTIES["chains"],
        draws=COUNTIES["draws"],
    message:
        "Convergence, summaries and figures of {wildcards.state}"
    script:
        "../scripts/counties/describe_counties.py"


rule project_counties:
    input:
        counties=rules.fetch_demonstration_data.output.counties,
        draws=rules.sample_counties.output.draws,
    output:
        **figure_outputs(
            "projection_{state}",
            "{state}",
            "Counties",
            caption="projection",
            subcategory="Projected noise (ISDP Figs 9, 10)",
        ),
        summary="results/summaries/projection_{state}.csv",
        boxes="results/figures/projection_{state}.csv",
    log:
        logs("project_counties_{state}"),
    benchmark:
        benchmarks("project_counties_{state}")
    conda:
        ENVIRONMENT
    params:
        **PROJECTION,
        library=library("counties/project_counties"),
        seed=config["seed"],
        epsilon=COUNTIES["epsilon"],
        norm=COUNTIES["norm"],
    message:
        "Projected noise for the counties of {wildcards.state}"
    script:
        "../scripts/counties/project_counties.py"


rule collect_counties:
    input:
        rhat=for_each(rules.describe_counties.output.rhat, state=selected_states),
        noise=for_each(rules.describe_counties.output.noise, state=selected_states),
        state=for_each(rules.describe_counties.output.state, state=selected_states),
        speed=for_each(rules.sample_counties.output.speed, state=selected_states),
        projection=for_each(rules.project_counties.output.summary, state=selected_states),
    output:
        **table_outputs(
            "counties_rhat",
            "R-hat of each county of each state",
            "Counties",
            key="rhat_",
            left_out=True,
        ),
        **table_outputs(
            "counties_noise",
            "Noise of each county of each state",
            "Counties",
            key="noise_",
            left_out=True,
        ),
        **table_outputs(
            "counties_states",
            "The states at a glance",
            "Counties",
            key="states_",
            subcategory="Convergence",
        ),
        **table_outputs(
            "projection_summary",
            "Spread, tails and overlap",
            "Counties",
            key="projection_",
            subcategory="Projected noise (ISDP Figs 9, 10)",
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
        logs("collect_counties"),
    benchmark:
        benchmarks("collect_counties")
    conda:
        ENVIRONMENT
    params:
        library=library("counties/collect_counties"),
        chains=COUNTIES["chains"],
        draws=COUNTIES["draws"],
    message:
        "Tables of all states"
    script:
        "../scripts/counties/collect_counties.py"


rule truncate_counties:
    input:
        counties=rules.fetch_demonstration_data.output.counties,
        sampled=rules.collect_counties.output.states_csv,
    output:
        **table_outputs("truncation", "Each state", "Counties", subcategory="Truncation at zero"),
        **figure_outputs(
            "truncation", "What it would take", "Counties", subcategory="Truncation at zero"
        ),
        counties="results/summaries/truncation_counties.csv",
        data="results/figures/truncation.csv",
    log:
        logs("truncate_counties"),
    benchmark:
        benchmarks("truncate_counties")
    conda:
        ENVIRONMENT
    params:
        library=library("counties/truncate_counties"),
        epsilon=COUNTIES["epsilon"],
        epsilons=COUNTIES["truncation"]["epsilons"],
    message:
        "Truncation of county counts at zero, all states"
    script:
        "../scripts/counties/truncate_counties.py"


GOALS.append(rules.select_states.output.states)
DRAWS.append(for_each(rules.sample_counties.output.draws, state=selected_states))
SENT |= {"sample_counties", "project_counties"}
