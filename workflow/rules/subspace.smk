"""Subspace differential privacy: mechanisms, guarantees, the campus and the counties (SDP)."""

from reproduction.subspace.settings import in_words

SUBSPACE = config["subspace"]


rule compute_subspace_errors:
    output:
        workloads="results/tables/subspace_workloads.csv",
        errors="results/tables/subspace_errors.csv",
        formulas="results/tables/subspace_formulas.csv",
        frameworks="results/tables/subspace_frameworks.csv",
        near_optimal="results/tables/subspace_near_optimal.csv",
        checks="results/tables/subspace_checks.csv",
    log:
        logs("compute_subspace_errors"),
    benchmark:
        benchmarks("compute_subspace_errors")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        sources=code("subspace"),
        seed=config["seed"],
        epsilon=SUBSPACE["epsilon"],
        delta=SUBSPACE["delta"],
        draws=SUBSPACE["draws"],
        workloads=SUBSPACE["workloads"],
    message:
        "Errors of subspace mechanisms on all workloads"
    script:
        "../scripts/subspace/compute_subspace_errors.py"


rule compute_subspace_guarantees:
    output:
        constant="results/tables/subspace_constant.csv",
        failing="results/tables/subspace_failing.csv",
        losses="results/tables/subspace_losses.csv",
        attained="results/tables/subspace_attained.csv",
        profiles="results/tables/subspace_profiles.csv",
    log:
        logs("compute_subspace_guarantees"),
    benchmark:
        benchmarks("compute_subspace_guarantees")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        sources=code("subspace"),
        seed=config["seed"],
        epsilon=SUBSPACE["epsilon"],
        workloads=SUBSPACE["workloads"],
        constant=SUBSPACE["constant"],
        losses=SUBSPACE["losses"],
    message:
        "Guarantees of subspace mechanisms"
    script:
        "../scripts/subspace/compute_subspace_guarantees.py"


rule compare_equal_privacy:
    output:
        equal_privacy="results/tables/subspace_equal_privacy.csv",
        orders="results/tables/subspace_orders.csv",
    log:
        logs("compare_equal_privacy"),
    benchmark:
        benchmarks("compare_equal_privacy")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        sources=code("subspace"),
        seed=config["seed"],
        epsilon=SUBSPACE["epsilon"],
        delta=SUBSPACE["delta"],
        equal_privacy=SUBSPACE["equal_privacy"],
    message:
        "All mechanisms at equal privacy, in the units of two papers"
    script:
        "../scripts/subspace/compare_equal_privacy.py"


rule simulate_campus:
    output:
        campus="results/tables/subspace_campus.csv",
        campus_laws="results/tables/subspace_campus_laws.csv",
        campus_constraints="results/tables/subspace_campus_constraints.csv",
        campus_integer="results/tables/subspace_campus_integer.csv",
        speed="results/benchmarks/subspace_campus_integer.csv",
    log:
        logs("simulate_campus"),
    benchmark:
        benchmarks("simulate_campus")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        sources=code("subspace"),
        seed=config["seed"],
        campus=SUBSPACE["campus"],
    message:
        "The WiFi example, read in every way"
    script:
        "../scripts/subspace/simulate_campus.py"


rule project_subspace_counties:
    input:
        counties="results/data/counties.csv",
        states="results/tables/states.csv",
    output:
        counties="results/tables/subspace_counties.csv",
        boxes="results/figures/subspace_counties.csv",
    log:
        logs("project_subspace_counties"),
    benchmark:
        benchmarks("project_subspace_counties")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        sources=code("subspace"),
        seed=config["seed"],
        epsilon=SUBSPACE["epsilon"],
        settings=SUBSPACE["counties"],
    message:
        "Projected Laplace noise for the counties of all states"
    script:
        "../scripts/subspace/project_subspace_counties.py"


rule plot_subspace:
    input:
        errors="results/tables/subspace_errors.csv",
        constant="results/tables/subspace_constant.csv",
        failing="results/tables/subspace_failing.csv",
        attained="results/tables/subspace_attained.csv",
        profiles="results/tables/subspace_profiles.csv",
        equal_privacy="results/tables/subspace_equal_privacy.csv",
        readings="results/tables/subspace_campus.csv",
        counties="results/tables/subspace_counties.csv",
        boxes="results/figures/subspace_counties.csv",
        provenance="results/data/provenance.json",
    output:
        errors=in_report("results/figures/subspace_errors.svg"),
        errors_png="results/figures/subspace_errors.png",
        constant=in_report("results/figures/subspace_constant.svg"),
        constant_png="results/figures/subspace_constant.png",
        losses=in_report("results/figures/subspace_losses.svg"),
        losses_png="results/figures/subspace_losses.png",
        campus=in_report("results/figures/subspace_campus.svg"),
        campus_png="results/figures/subspace_campus.png",
        equal_privacy=in_report("results/figures/subspace_equal_privacy.svg"),
        equal_privacy_png="results/figures/subspace_equal_privacy.png",
        counties=in_report("results/figures/subspace_counties.svg"),
        counties_png="results/figures/subspace_counties.png",
        states=in_report("results/figures/subspace_states.svg"),
        states_png="results/figures/subspace_states.png",
    log:
        logs("plot_subspace"),
    benchmark:
        benchmarks("plot_subspace")
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("subspace"),
        epsilon=SUBSPACE["epsilon"],
        delta=SUBSPACE["delta"],
        state=SUBSPACE["counties"]["state"],
        workloads={name: in_words(entry) for name, entry in SUBSPACE["workloads"].items()},
    message:
        "Figures of subspace privacy"
    script:
        "../scripts/subspace/plot_subspace.py"


SUBSPACE_TABLES = tables_made_by(
    rules.compute_subspace_errors,
    rules.compute_subspace_guarantees,
    rules.compare_equal_privacy,
    rules.simulate_campus,
    rules.project_subspace_counties,
)


use rule render_tables as render_subspace_tables with:
    input:
        SUBSPACE_TABLES,
    output:
        **rendered(SUBSPACE_TABLES),
    log:
        logs("render_subspace_tables"),
    params:
        sources=presentation("subspace", "review"),
        descriptions=DESCRIPTION_FILES,


rule subspace:
    input:
        rules.plot_subspace.output,
        rules.render_subspace_tables.output,
