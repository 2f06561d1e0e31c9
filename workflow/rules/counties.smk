"""Sample integer noise in county populations under each state's total (ISDP, Sections 5 and E.4).

Other rules regress the errors of the Census DAS (SDP, Section 1), and compute projected noise and
truncation at zero.

ISDP is *Integer Subspace Differential Privacy*, and SDP is *Subspace Differential Privacy*.
"""

from reproduction.jobs.scenarios import select_walk

COUNTIES = config["counties"]
MECHANISM = {key: COUNTIES[key] for key in ("norm", "epsilon")}


checkpoint select_states:
    input:
        counties="results/data/counties.csv",
        provenance="results/data/provenance.json",
    output:
        regressions="results/tables/das_regressions.csv",
        slopes="results/figures/das_slopes.csv",
        states="results/tables/states.csv",
    log:
        logs("select_states"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("counties"),
        states=COUNTIES["states"],
        stand_in=COUNTIES["stand_in_states"],
    message:
        "Selecting the states to run by regressions of the errors of the Census DAS"
    script:
        "../scripts/counties/select_states.py"


rule sample_counties:
    input:
        counties="results/data/counties.csv",
    output:
        draws="results/draws/counties_{state}.nc",
    log:
        logs("sample_counties_{state}"),
    benchmark:
        benchmarks("sample_counties_{state}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        sources=code("counties"),
        walk=select_walk(config),
        seed=config["seed"],
    script:
        "../scripts/counties/sample_counties.py"


rule describe_counties:
    input:
        counties="results/data/counties.csv",
        draws="results/draws/counties_{state}.nc",
        exact="results/draws/exact_counties_{state}.nc",
    output:
        rhat="results/summaries/counties_{state}_rhat.csv",
        noise="results/summaries/counties_{state}_noise.csv",
        state="results/summaries/counties_{state}_state.csv",
        boxes="results/figures/counties_{state}.csv",
        exact_noise="results/summaries/exact_counties_{state}_noise.csv",
        exact_state="results/summaries/exact_counties_{state}_state.csv",
        exact_boxes="results/figures/counties_{state}_exact.csv",
    log:
        logs("describe_counties_{state}"),
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        sources=code("counties"),
        mechanism=MECHANISM,
    script:
        "../scripts/counties/describe_counties.py"


rule project_counties:
    input:
        counties="results/data/counties.csv",
        draws="results/draws/counties_{state}.nc",
    output:
        summary="results/summaries/projection_{state}.csv",
        boxes="results/figures/projection_{state}.csv",
    log:
        logs("project_counties_{state}"),
    benchmark:
        benchmarks("project_counties_{state}")
    conda:
        ENVIRONMENT
    params:
        sources=code("counties"),
        seed=config["seed"],
        settings=COUNTIES["projection"],
        epsilon=COUNTIES["epsilon"],
    script:
        "../scripts/counties/project_counties.py"


rule plot_counties:
    input:
        noise="results/figures/counties_{state}.csv",
        noise_state="results/summaries/counties_{state}_state.csv",
        exact="results/figures/counties_{state}_exact.csv",
        exact_state="results/summaries/exact_counties_{state}_state.csv",
        projection="results/figures/projection_{state}.csv",
        states="results/tables/states.csv",
        provenance="results/data/provenance.json",
    output:
        **figure_files(
            noise="results/figures/counties_{state}.svg",
            exact="results/figures/counties_{state}_exact.svg",
            projection="results/figures/projection_{state}.svg",
        ),
    log:
        logs("plot_counties_{state}"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("counties"),
        mechanism=MECHANISM,
        chains=COUNTIES["chains"],
        draws=COUNTIES["draws"],
        simulations=COUNTIES["projection"]["simulations"],
    script:
        "../scripts/counties/plot_counties.py"


rule collect_counties:
    input:
        counties="results/data/counties.csv",
        rhat=states_of("results/summaries/counties_{state}_rhat.csv"),
        noise=states_of("results/summaries/counties_{state}_noise.csv"),
        state=states_of("results/summaries/counties_{state}_state.csv"),
        projection=states_of("results/summaries/projection_{state}.csv"),
    output:
        rhat="results/tables/counties_rhat.csv",
        noise="results/tables/counties_noise.csv",
        states="results/tables/counties_states.csv",
        projection="results/tables/projection_summary.csv",
        truncation="results/tables/truncation.csv",
        convergence="results/figures/counties_convergence.csv",
        curves="results/figures/truncation.csv",
    log:
        logs("collect_counties"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("counties"),
        epsilon=COUNTIES["epsilon"],
        epsilons=COUNTIES["truncation"]["epsilons"],
    message:
        "Combining the tables of all states"
    script:
        "../scripts/counties/collect_counties.py"


rule plot_all_counties:
    input:
        slopes="results/figures/das_slopes.csv",
        convergence="results/figures/counties_convergence.csv",
        truncation="results/figures/truncation.csv",
        counties="results/data/counties.csv",
        provenance="results/data/provenance.json",
    output:
        **figure_files(
            slopes="results/figures/das_slopes.svg",
            convergence="results/figures/counties_convergence.svg",
            truncation="results/figures/truncation.svg",
        ),
    log:
        logs("plot_all_counties"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("counties"),
        epsilon=COUNTIES["epsilon"],
        chains=COUNTIES["chains"],
        draws=COUNTIES["draws"],
    script:
        "../scripts/counties/plot_all_counties.py"


COUNTY_TABLES = made_by("tables", rules.select_states, rules.collect_counties)


use rule render_tables as render_county_tables with:
    input:
        COUNTY_TABLES,
    output:
        **rendered(COUNTY_TABLES),
    log:
        logs("render_county_tables"),
    params:
        sources=presentation("counties", "review"),


rule counties:
    input:
        rules.render_county_tables.output,
        rules.plot_all_counties.output,
        states_of("results/figures/counties_{state}.svg"),
        states_of("results/figures/counties_{state}_exact.svg"),
        states_of("results/figures/projection_{state}.svg"),
