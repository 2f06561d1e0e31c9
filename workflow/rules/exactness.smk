"""Exact draws beside every chain: no convergence error, and a law to judge the chains by."""

EXACT = config["exact"]

config["words"]["exact"] = (
    "Exact draws have no convergence error: compositions under disjoint totals, messages along a "
    "tree of partial sums or staged rejection for l1, a mixture of Gaussians for l2, Klein's "
    "sampler with rejection for the Gaussian. Distances are Kolmogorov's; a bound is exceeded by "
    "two samples of one law once in a million times. Seed {seed}."
).format(seed=config["seed"])


rule draw_exact_lattice:
    input:
        library=library("exactness/draw_exact_lattice"),
    output:
        draws="results/draws/exact_{experiment}_{law}.nc",
    log:
        "results/logs/draw_exact_lattice_{experiment}_{law}.log",
    benchmark:
        "results/benchmarks/draw_exact_lattice_{experiment}_{law}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2500,
    params:
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
        exact=of_all_its_laws("results/draws/exact_{experiment}_{law}.nc"),
        curves=of_all_its_laws("results/coupling/{experiment}_{law}_curves.csv"),
        meetings=of_all_its_laws("results/coupling/{experiment}_{law}_meetings.csv"),
        library=library("exactness/follow_distance"),
    output:
        distances="results/coupling/{experiment}_distances.csv",
    log:
        "results/logs/follow_distance_{experiment}.log",
    benchmark:
        "results/benchmarks/follow_distance_{experiment}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1500,
    params:
        seed=config["seed"],
        entry=experiment_of,
        laws=laws_of,
        variants=config["variants"],
        exact=EXACT,
    message:
        "Actual distance from the target: {wildcards.experiment}"
    script:
        "../scripts/exactness/follow_distance.py"


rule draw_exact_counties:
    input:
        counties="results/data/counties.csv",
        library=library("exactness/draw_exact_counties"),
    output:
        draws="results/draws/exact_counties_{state}.nc",
    log:
        "results/logs/draw_exact_counties_{state}.log",
    benchmark:
        "results/benchmarks/draw_exact_counties_{state}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
    params:
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
        counties="results/data/counties.csv",
        states="results/tables/states.csv",
        draws=for_each_state("results/draws/counties_{state}.nc"),
        exact=for_each_state("results/draws/exact_counties_{state}.nc"),
        noise=for_each_state("results/summaries/exact_counties_{state}_noise.csv"),
        state=for_each_state("results/summaries/exact_counties_{state}_state.csv"),
        library=library("exactness/compare_exact_counties"),
    output:
        **table_outputs(
            "counties_noise_exact",
            "Noise of each county, exact draws",
            "Counties",
            key="noise_",
            subcategory="Exact draws",
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
        "results/logs/compare_exact_counties.log",
    benchmark:
        "results/benchmarks/compare_exact_counties.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1500,
    params:
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
        counts="results/data/sex_by_age.csv",
        draws="results/draws/sex_by_age.nc",
        library=library("exactness/compare_exact_sex_by_age"),
    output:
        **figure_outputs(
            "exact_sex_by_age", "Chains against exact draws", "Sex by age", caption="exact_laws"
        ),
        draws="results/draws/exact_sex_by_age.nc",
        agreement="results/summaries/exact_sex_by_age_agreement.csv",
        data="results/figures/exact_sex_by_age.csv",
    log:
        "results/logs/compare_exact_sex_by_age.log",
    benchmark:
        "results/benchmarks/compare_exact_sex_by_age.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2500,
    params:
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
            "results/summaries/exact_counties_agreement.csv",
            *of_experiments("results/summaries/exact_{experiment}_agreement.csv"),
            "results/summaries/exact_sex_by_age_agreement.csv",
        ],
        distances=of_experiments("results/coupling/{experiment}_distances.csv"),
        library=library("exactness/collect_exact"),
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
        "results/logs/collect_exact.log",
    conda:
        "../../environment.yml"
    message:
        "Agreement of all samplers with exact draws"
    script:
        "../scripts/exactness/collect_exact.py"
