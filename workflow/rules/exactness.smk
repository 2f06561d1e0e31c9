"""Draw every experiment exactly, and compute the distance of the Markov chains from the draws."""

EXACT = config["exactness"]


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
        sources=code("exactness", "lattices"),
        seed=config["seed"],
        entry=LATTICES.lattice_of,
        law=LAW,
        draws=EXACT["draws"],
    script:
        "../scripts/exactness/draw_exact_lattice.py"


rule draw_exact_counties:
    input:
        counties="results/data/counties.csv",
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
        sources=code("exactness", "counties"),
        seed=config["seed"],
        mechanism={key: COUNTIES[key] for key in ("epsilon", "norm")},
        draws=COUNTIES["chains"] * COUNTIES["draws"],
    script:
        "../scripts/exactness/draw_exact_counties.py"


rule compare_exact_counties:
    input:
        draws=states_of("results/draws/counties_{state}.nc"),
        exact=states_of("results/draws/exact_counties_{state}.nc"),
        noise=states_of("results/summaries/exact_counties_{state}_noise.csv"),
        state=states_of("results/summaries/exact_counties_{state}_state.csv"),
    output:
        noise="results/tables/counties_noise_exact.csv",
        states="results/tables/counties_states_exact.csv",
        shares="results/figures/exact_counties.csv",
        distances="results/figures/counties_distance.csv",
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
        sources=code("exactness"),
        seed=config["seed"],
        chains=EXACT["county_chains"],
        burn_in=COUNTIES["burn_in"],
        walk={
            key: COUNTIES[key]
            for key in ("epsilon", "norm", "basis", "acceptance", "proposal", "overdispersed")
        },
    script:
        "../scripts/exactness/compare_exact_counties.py"


rule compare_exact_sex_by_age:
    input:
        counts="results/data/sex_by_age.csv",
        draws="results/draws/sex_by_age.nc",
    output:
        draws="results/draws/exact_sex_by_age.nc",
        agreement="results/summaries/exact_sex_by_age_agreement.csv",
        laws="results/figures/exact_sex_by_age.csv",
    log:
        logs("compare_exact_sex_by_age"),
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2500,
    params:
        sources=code("exactness"),
        seed=config["seed"],
        epsilon=SEX_BY_AGE["epsilon"],
        draws=EXACT["draws"],
    script:
        "../scripts/exactness/compare_exact_sex_by_age.py"


rule collect_exact:
    input:
        agreement=expand(
            "results/summaries/exact_{experiment}_agreement.csv",
            experiment=["counties", *LATTICES, "sex_by_age"],
        ),
        distances=expand("results/coupling/{experiment}_distances.csv", experiment=LATTICES),
    output:
        agreement="results/tables/exact_agreement.csv",
        distances="results/tables/lattice_distance.csv",
    log:
        logs("collect_exact"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("exactness"),
    script:
        "../scripts/exactness/collect_exact.py"


rule plot_exact:
    input:
        shares="results/figures/exact_counties.csv",
        agreement="results/summaries/exact_counties_agreement.csv",
        distances="results/figures/counties_distance.csv",
        sex_by_age_agreement="results/summaries/exact_sex_by_age_agreement.csv",
    output:
        **figure_files(
            counties="results/figures/exact_counties.svg",
            distances="results/figures/counties_distance.svg",
            sex_by_age="results/figures/exact_sex_by_age.svg",
        ),
    log:
        logs("plot_exact"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("exactness"),
        norm=COUNTIES["norm"],
        epsilon=COUNTIES["epsilon"],
        chains=EXACT["county_chains"],
        sex_by_age_epsilon=SEX_BY_AGE["epsilon"],
    script:
        "../scripts/exactness/plot_exact.py"


EXACT_TABLES = made_by("tables", rules.compare_exact_counties, rules.collect_exact)


use rule render_tables as render_exact_tables with:
    input:
        EXACT_TABLES,
    output:
        **rendered(EXACT_TABLES),
    log:
        logs("render_exact_tables"),
    params:
        sources=presentation("exactness", "review"),


rule exactness:
    input:
        rules.render_exact_tables.output,
        rules.plot_exact.output,
