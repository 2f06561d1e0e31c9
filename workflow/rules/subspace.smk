"""Run the study of subspace privacy: mechanisms, guarantees, campus and counties (SDP).

SDP is *Subspace Differential Privacy*.
"""

from reproduction.subspace.settings import describe_workload

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
        tables="compare_errors",
        settings=some_of(SUBSPACE, "epsilon", "delta", "draws", "workloads"),
    script:
        "../scripts/subspace/compute_subspace.py"


use rule compute_subspace_errors as compute_subspace_guarantees with:
    output:
        constant="results/tables/subspace_constant.csv",
        failing="results/tables/subspace_failing.csv",
        losses="results/tables/subspace_losses.csv",
        attained="results/tables/subspace_attained.csv",
        profiles="results/tables/subspace_profiles.csv",
        statements="results/tables/subspace_statements.csv",
    log:
        logs("compute_subspace_guarantees"),
    benchmark:
        benchmarks("compute_subspace_guarantees")
    params:
        tables="tabulate_guarantees",
        settings=some_of(SUBSPACE, "epsilon", "workloads", "constant", "losses"),


use rule compute_subspace_errors as compare_equal_privacy with:
    output:
        equal_privacy="results/tables/subspace_equal_privacy.csv",
        orders="results/tables/subspace_orders.csv",
    log:
        logs("compare_equal_privacy"),
    benchmark:
        benchmarks("compare_equal_privacy")
    params:
        tables="tabulate_equal_privacy",
        settings=some_of(SUBSPACE, "epsilon", "delta", "equal_privacy"),


use rule compute_subspace_errors as simulate_campus with:
    output:
        campus="results/tables/subspace_campus.csv",
        campus_laws="results/tables/subspace_campus_laws.csv",
        campus_constraints="results/tables/subspace_campus_constraints.csv",
        campus_integer="results/tables/subspace_campus_integer.csv",
    log:
        logs("simulate_campus"),
    benchmark:
        benchmarks("simulate_campus")
    params:
        tables="tabulate_campus",
        settings=some_of(SUBSPACE, "campus"),


use rule compute_subspace_errors as project_subspace_counties with:
    input:
        population="results/data/counties.csv",
        states="results/tables/states.csv",
    output:
        counties="results/tables/subspace_counties.csv",
        boxes="results/figures/subspace_counties.csv",
    log:
        logs("project_subspace_counties"),
    benchmark:
        benchmarks("project_subspace_counties")
    params:
        tables="tabulate_counties",
        settings=some_of(SUBSPACE, "epsilon", "counties"),


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
        **figure_files(
            errors="results/figures/subspace_errors.svg",
            constant="results/figures/subspace_constant.svg",
            losses="results/figures/subspace_losses.svg",
            campus="results/figures/subspace_campus.svg",
            equal_privacy="results/figures/subspace_equal_privacy.svg",
            counties="results/figures/subspace_counties.svg",
            states="results/figures/subspace_states.svg",
        ),
    log:
        logs("plot_subspace"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("subspace"),
        epsilon=SUBSPACE["epsilon"],
        delta=SUBSPACE["delta"],
        state=SUBSPACE["counties"]["state"],
        workloads={name: describe_workload(entry) for name, entry in SUBSPACE["workloads"].items()},
    script:
        "../scripts/subspace/plot_subspace.py"


SUBSPACE_TABLES = made_by(
    "tables",
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


rule subspace:
    input:
        rules.plot_subspace.output,
        rules.render_subspace_tables.output,
