"""Run the study of congenial differential privacy: sex by age, and a two-bin histogram (CDP).

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

SEX_BY_AGE = config["congenial"]["sex_by_age"]


rule sample_sex_by_age:
    input:
        file=SEX_BY_AGE["file"] or [],
    output:
        counts="results/data/sex_by_age.csv",
        release="results/tables/sex_by_age.csv",
        chains="results/tables/sex_by_age_chains.csv",
        printed="results/tables/sex_by_age_printed.csv",
        norms="results/figures/sex_by_age_samplers.csv",
        speed="results/benchmarks/sex_by_age_samplers.csv",
        draws="results/draws/sex_by_age.nc",
    log:
        logs("sample_sex_by_age"),
    benchmark:
        benchmarks("sample_sex_by_age")
    conda:
        ENVIRONMENT
    params:
        sources=code("congenial"),
        seed=config["seed"],
        settings=SEX_BY_AGE,
    script:
        "../scripts/congenial/sample_sex_by_age.py"


rule measure_independence:
    input:
        counts="results/data/sex_by_age.csv",
        draws="results/draws/sex_by_age.nc",
    output:
        steps="results/figures/sex_by_age_traces.csv",
        trace="results/tables/sex_by_age_trace.csv",
        spread="results/tables/sex_by_age_trace_spread.csv",
        acceptance="results/tables/sex_by_age_acceptance.csv",
        acceptance_points="results/figures/sex_by_age_acceptance.csv",
    log:
        logs("measure_independence"),
    benchmark:
        benchmarks("measure_independence")
    conda:
        ENVIRONMENT
    params:
        sources=code("congenial"),
        seed=config["seed"],
        settings=SEX_BY_AGE,
    script:
        "../scripts/congenial/measure_independence.py"


rule compare_distances:
    input:
        counts="results/data/sex_by_age.csv",
    output:
        medians="results/tables/sex_by_age_medians.csv",
        mixing="results/tables/sex_by_age_mixing.csv",
        means="results/figures/sex_by_age_distances.csv",
    log:
        logs("compare_distances"),
    benchmark:
        benchmarks("compare_distances")
    conda:
        ENVIRONMENT
    params:
        sources=code("congenial"),
        seed=config["seed"],
        settings=SEX_BY_AGE,
    script:
        "../scripts/congenial/compare_distances.py"


rule compare_two_bin:
    output:
        two_bin="results/tables/two_bin.csv",
        tau="results/tables/two_bin_tau.csv",
        statements="results/tables/congenial_statements.csv",
    log:
        logs("compare_two_bin"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("congenial"),
        seed=config["seed"],
        two_bin=config["congenial"]["two_bin"],
        sex_by_age=some_of(SEX_BY_AGE, "counts", "epsilon", "distances"),
    script:
        "../scripts/congenial/compare_two_bin.py"


rule plot_sex_by_age:
    input:
        norms="results/figures/sex_by_age_samplers.csv",
        speed="results/benchmarks/sex_by_age_samplers.csv",
        traces="results/figures/sex_by_age_traces.csv",
        trace="results/tables/sex_by_age_trace.csv",
        acceptance="results/figures/sex_by_age_acceptance.csv",
        medians="results/tables/sex_by_age_medians.csv",
    output:
        **figure_files(
            distances="results/figures/sex_by_age_distances.svg",
            short_chains="results/figures/sex_by_age_short_chains.svg",
            acceptance="results/figures/sex_by_age_acceptance.svg",
            traces="results/figures/sex_by_age_traces.svg",
            samplers="results/figures/sex_by_age_samplers.svg",
        ),
    log:
        logs("plot_sex_by_age"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("congenial"),
        settings=SEX_BY_AGE,
    script:
        "../scripts/congenial/plot_sex_by_age.py"


CONGENIAL_TABLES = made_by(
    "tables",
    rules.sample_sex_by_age,
    rules.measure_independence,
    rules.compare_distances,
    rules.compare_two_bin,
)


use rule render_tables as render_congenial_tables with:
    input:
        CONGENIAL_TABLES,
    output:
        **rendered(CONGENIAL_TABLES),
    log:
        logs("render_congenial_tables"),
    params:
        sources=presentation("congenial", "review"),


rule congenial:
    input:
        rules.plot_sex_by_age.output,
        rules.render_congenial_tables.output,
