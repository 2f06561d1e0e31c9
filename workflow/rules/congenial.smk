"""Congenial differential privacy: sex by age under constraints, and a two-bin histogram (CDP)."""

SEX_BY_AGE = config["congenial"]["sex_by_age"]
DISTANCES = SEX_BY_AGE["distances"]

config["words"]["sex_by_age"] = (
    "Confidential table: {table}. Held: total population, females, people of voting age; no cell "
    "below zero. Unconstrained mechanism: double geometric, epsilon = {epsilon:g} per cell. "
    "Seed {seed}."
).format(
    epsilon=SEX_BY_AGE["epsilon"],
    seed=config["seed"],
    table=(
        f"Table P12 of {SEX_BY_AGE['county']}"
        if SEX_BY_AGE["file"]
        else "the paper's (CDP, Table 1)"
    ),
)


rule read_sex_by_age:
    input:
        file=SEX_BY_AGE["file"] or [],
    output:
        counts="results/data/sex_by_age.csv",
    log:
        logs("read_sex_by_age"),
    conda:
        ENVIRONMENT
    params:
        library=library("congenial/read_sex_by_age"),
        county=SEX_BY_AGE["county"],
        counts=SEX_BY_AGE["counts"],
    message:
        "The confidential table of sex by age"
    script:
        "../scripts/congenial/read_sex_by_age.py"


rule sample_sex_by_age:
    input:
        counts=rules.read_sex_by_age.output.counts,
    output:
        **table_outputs(
            "sex_by_age",
            "The table and one release (CDP Table 1)",
            "Sex by age",
            key="release_",
        ),
        **table_outputs("sex_by_age_chains", "Chains of both samplers", "Sex by age", key="chains_"),
        **table_outputs(
            "sex_by_age_printed", "The paper's printed release", "Sex by age", key="printed_"
        ),
        **table_outputs(
            "sex_by_age_trace_spread", "Chains of that length", "Sex by age", key="spread_"
        ),
        **table_outputs("sex_by_age_trace", "Two cells of one chain", "Sex by age", key="trace_"),
        draws="results/draws/sex_by_age.nc",
        norms="results/figures/sex_by_age_samplers.csv",
        traces="results/figures/sex_by_age_traces.csv",
        speed="results/benchmarks/sex_by_age_samplers.csv",
    log:
        logs("sample_sex_by_age"),
    benchmark:
        benchmarks("sample_sex_by_age")
    conda:
        ENVIRONMENT
    params:
        **{
            key: SEX_BY_AGE[key]
            for key in (
                "epsilon",
                "proposal_epsilon",
                "solved",
                "walk",
                "independence",
                "trace",
            )
        },
        library=library("congenial/sample_sex_by_age"),
        seed=config["seed"],
        printed=None if SEX_BY_AGE["file"] else SEX_BY_AGE["printed"],
    message:
        "Releases of sex by age by both samplers"
    script:
        "../scripts/congenial/sample_sex_by_age.py"


rule measure_acceptance:
    input:
        counts=rules.read_sex_by_age.output.counts,
        draws=rules.sample_sex_by_age.output.draws,
    output:
        **table_outputs(
            "sex_by_age_acceptance", "Acceptance of the independence sampler", "Sex by age"
        ),
        data="results/figures/sex_by_age_acceptance.csv",
    log:
        logs("measure_acceptance"),
    benchmark:
        benchmarks("measure_acceptance")
    conda:
        ENVIRONMENT
    params:
        library=library("congenial/measure_acceptance"),
        seed=config["seed"],
        epsilon=SEX_BY_AGE["epsilon"],
        solved=SEX_BY_AGE["solved"],
        acceptance=SEX_BY_AGE["acceptance"],
        of_paper=not SEX_BY_AGE["file"],
    message:
        "Acceptance of the independence sampler against its proposal"
    script:
        "../scripts/congenial/measure_acceptance.py"


rule compare_distances:
    input:
        counts=rules.read_sex_by_age.output.counts,
    output:
        **table_outputs(
            "sex_by_age_medians", "Medians, method by method", "Sex by age", key="medians_"
        ),
        **table_outputs(
            "sex_by_age_mixing", "The chains of each table", "Sex by age", key="mixing_"
        ),
        data="results/figures/sex_by_age_distances.csv",
    log:
        logs("compare_distances"),
    benchmark:
        benchmarks("compare_distances")
    conda:
        ENVIRONMENT
    params:
        **{key: SEX_BY_AGE[key] for key in ("epsilon", "proposal_epsilon", "solved")},
        library=library("congenial/compare_distances"),
        seed=config["seed"],
        simulated=not SEX_BY_AGE["file"],
        distances=DISTANCES,
    message:
        "Distances of releases from their tables, method by method"
    script:
        "../scripts/congenial/compare_distances.py"


rule plot_sex_by_age:
    input:
        norms=rules.sample_sex_by_age.output.norms,
        speed=rules.sample_sex_by_age.output.speed,
        traces=rules.sample_sex_by_age.output.traces,
        trace=rules.sample_sex_by_age.output.trace_csv,
        acceptance=rules.measure_acceptance.output.data,
        medians=rules.compare_distances.output.medians_csv,
    output:
        **figure_outputs(
            "sex_by_age_distances", "Distances (CDP Fig 1)", "Sex by age", key="distances_"
        ),
        **figure_outputs(
            "sex_by_age_acceptance", "Acceptance (CDP Fig 2)", "Sex by age", key="acceptance_"
        ),
        **figure_outputs("sex_by_age_traces", "Traces (CDP Fig 3)", "Sex by age", key="traces_"),
        **figure_outputs(
            "sex_by_age_samplers", "Two samplers of one target", "Sex by age", key="samplers_"
        ),
    log:
        logs("plot_sex_by_age"),
    benchmark:
        benchmarks("plot_sex_by_age")
    conda:
        ENVIRONMENT
    params:
        library=library("congenial/plot_sex_by_age"),
        epsilon=SEX_BY_AGE["epsilon"],
        proposal_epsilon=SEX_BY_AGE["proposal_epsilon"],
        raw_epsilon=DISTANCES["raw_epsilon"],
        tables=DISTANCES["tables"],
        releases=DISTANCES["releases"],
        county=SEX_BY_AGE["county"] if SEX_BY_AGE["file"] else None,
    message:
        "Figures of sex by age"
    script:
        "../scripts/congenial/plot_sex_by_age.py"


rule compare_two_bin:
    output:
        **table_outputs("two_bin", "Two-bin histogram (CDP Table 2)", "Two bins"),
    log:
        logs("compare_two_bin"),
    conda:
        ENVIRONMENT
    params:
        library=library("congenial/compare_two_bin"),
        seed=config["seed"],
        two_bin=config["congenial"]["two_bin"],
    message:
        "Two-bin histogram: conditioning against projecting"
    script:
        "../scripts/congenial/compare_two_bin.py"


GOALS.append(rules.plot_sex_by_age.output.distances_svg)
DRAWS.append(rules.sample_sex_by_age.output.draws)
SENT |= {"sample_sex_by_age", "measure_acceptance", "compare_distances"}
