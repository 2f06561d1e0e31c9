"""Exact draws beside every chain: no convergence error, and a law to judge the chains by."""

EXACT = config["exactness"]

config["words"]["exact"] = (
    "Exact draws have no convergence error: compositions under disjoint totals, messages along a "
    "tree of partial sums or staged rejection for l1, a mixture of Gaussians for l2, Klein's "
    "sampler with rejection for the Gaussian. Distances are Kolmogorov's; a bound is exceeded by "
    "two samples of one law once in a million times. Seed {seed}."
).format(seed=config["seed"])


rule draw_exact_lattice:
    output:
        draws="results/draws/exact_{experiment}_{law}.nc",
    log:
        logs("draw_exact_lattice_{experiment}_{law}"),
    benchmark:
        benchmarks("draw_exact_lattice_{experiment}_{law}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2500,
    params:
        library=library("exactness/draw_exact_lattice"),
        seed=config["seed"],
        entry=experiment_of,
        law=law_of,
        draws=EXACT["draws"],
    message:
        "Exact noise of {wildcards.experiment}, {wildcards.law}"
    script:
        "../scripts/exactness/draw_exact_lattice.py"


rule follow_distance:
    input:
        exact=for_each(rules.draw_exact_lattice.output.draws, law=laws_of),
        curves=for_each(rules.couple_chains.output.curves, law=laws_of),
        meetings=for_each(rules.couple_chains.output.meetings, law=laws_of),
    output:
        distances="results/coupling/{experiment}_distances.csv",
    log:
        logs("follow_distance_{experiment}"),
    benchmark:
        benchmarks("follow_distance_{experiment}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1500,
    params:
        library=library("exactness/follow_distance"),
        seed=config["seed"],
        entry=experiment_of,
        laws=laws_of,
        variants=VARIANTS,
        following={key: EXACT[key] for key in ("chains", "points", "longest")},
    message:
        "Actual distance from the target: {wildcards.experiment}"
    script:
        "../scripts/exactness/follow_distance.py"


rule draw_exact_counties:
    input:
        counties=rules.fetch_demonstration_data.output.counties,
    output:
        draws="results/draws/exact_counties_{state}.nc",
    log:
        logs("draw_exact_counties_{state}"),
    benchmark:
        benchmarks("draw_exact_counties_{state}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        library=library("exactness/draw_exact_counties"),
        seed=config["seed"],
        epsilon=COUNTIES["epsilon"],
        norm=COUNTIES["norm"],
        draws=COUNTIES["chains"] * COUNTIES["draws"],
    message:
        "Exact noise for the counties of {wildcards.state}"
    script:
        "../scripts/exactness/draw_exact_counties.py"


rule compare_exact_counties:
    input:
        draws=for_each(rules.sample_counties.output.draws, state=selected_states),
        exact=for_each(rules.draw_exact_counties.output.draws, state=selected_states),
        noise=for_each(rules.describe_counties.output.exact_noise, state=selected_states),
        state=for_each(rules.describe_counties.output.exact_state, state=selected_states),
    output:
        **table_outputs(
            "counties_noise_exact",
            "Noise of each county, exact draws",
            "Counties",
            key="noise_",
            left_out=True,
        ),
        **table_outputs(
            "counties_states_exact",
            "The states at a glance, exact draws",
            "Counties",
            key="states_",
            subcategory="Exact draws",
        ),
        **figure_outputs(
            "exact_counties",
            "Both laws on top of each other",
            "Counties",
            key="laws_",
            subcategory="Exact draws",
        ),
        **figure_outputs(
            "counties_distance",
            "How fast the chains forget their starts",
            "Counties",
            key="distance_",
            subcategory="Exact draws",
        ),
        laws_data="results/figures/exact_counties.csv",
        distance_data="results/figures/counties_distance.csv",
        agreement="results/summaries/exact_counties_agreement.csv",
    log:
        logs("compare_exact_counties"),
    benchmark:
        benchmarks("compare_exact_counties")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1500,
    params:
        library=library("exactness/compare_exact_counties"),
        seed=config["seed"],
        chains=EXACT["county_chains"],
        burn_in=COUNTIES["burn_in"],
        walk={
            key: COUNTIES[key]
            for key in ("epsilon", "norm", "basis", "acceptance", "proposal", "overdispersed")
        },
    message:
        "Chains of all states against exact draws"
    script:
        "../scripts/exactness/compare_exact_counties.py"


rule compare_exact_sex_by_age:
    input:
        counts=rules.read_sex_by_age.output.counts,
        draws=rules.sample_sex_by_age.output.draws,
    output:
        **figure_outputs(
            "exact_sex_by_age", "Chains against exact draws", "Sex by age", caption="exact_laws"
        ),
        draws="results/draws/exact_sex_by_age.nc",
        agreement="results/summaries/exact_sex_by_age_agreement.csv",
        data="results/figures/exact_sex_by_age.csv",
    log:
        logs("compare_exact_sex_by_age"),
    benchmark:
        benchmarks("compare_exact_sex_by_age")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2500,
    params:
        library=library("exactness/compare_exact_sex_by_age"),
        seed=config["seed"],
        epsilon=SEX_BY_AGE["epsilon"],
        draws=EXACT["draws"],
    message:
        "Chains of sex by age against exact draws"
    script:
        "../scripts/exactness/compare_exact_sex_by_age.py"


rule collect_exact:
    input:
        agreement=[
            rules.compare_exact_counties.output.agreement,
            *expand(str(rules.describe_lattice.output.agreement), experiment=LATTICES),
            rules.compare_exact_sex_by_age.output.agreement,
        ],
        distances=expand(str(rules.follow_distance.output.distances), experiment=LATTICES),
    output:
        **table_outputs(
            "exact_agreement", "Samplers against exact draws", "Scorecard", key="agreement_"
        ),
        **table_outputs(
            "lattice_distance",
            "Actual distances against the bounds",
            "Lattices",
            subcategory="Convergence",
            key="distance_",
        ),
    log:
        logs("collect_exact"),
    conda:
        ENVIRONMENT
    params:
        library=library("exactness/collect_exact"),
    message:
        "Agreement of all samplers with exact draws"
    script:
        "../scripts/exactness/collect_exact.py"


DRAWS += [
    for_each(rules.draw_exact_counties.output.draws, state=selected_states),
    *of_every_law(rules.draw_exact_lattice.output.draws),
    rules.compare_exact_sex_by_age.output.draws,
]
SENT |= {"draw_exact_counties", "compare_exact_counties", "draw_exact_lattice"}
