"""The scorecard, and Snakemake's own report of everything."""

SCORED_TABLES = [
    "counties_rhat",
    "counties_noise",
    "counties_states",
    "das_regressions",
    "draws_verified",
    "projection_summary",
    "truncation",
    "sex_by_age_chains",
    "sex_by_age_printed",
    "sex_by_age_trace_spread",
    "sex_by_age_acceptance",
    "sex_by_age_medians",
    "sex_by_age_mixing",
    "two_bin",
    "counties_noise_exact",
    "counties_states_exact",
    "exact_agreement",
    "lattice_convergence",
    "lattice_distance",
    "lattice_norms",
    *of_experiments("{experiment}_noise_summary"),
    *of_experiments("{experiment}_noise_summary_exact"),
    *of_experiments("{experiment}_confidential", having=["axes", "counts"]),
    *of_experiments("{experiment}_printed", having=["printed"]),
]


rule verify_draws:
    input:
        counties=for_each_state("results/draws/counties_{state}.nc"),
        lattices=of_every_law("results/draws/{experiment}_{law}.nc"),
        exact_counties=for_each_state("results/draws/exact_counties_{state}.nc"),
        exact_lattices=of_every_law("results/draws/exact_{experiment}_{law}.nc"),
        sex_by_age=["results/draws/sex_by_age.nc", "results/draws/exact_sex_by_age.nc"],
        library=library("review/verify_draws"),
    output:
        **table_outputs("draws_verified", "Invariants of every draw", "Scorecard"),
    log:
        "results/logs/verify_draws.log",
    benchmark:
        "results/benchmarks/verify_draws.tsv"
    conda:
        "../../environment.yml"
    message:
        "Invariants of every draw in results/, checked again in exact integers"
    script:
        "../scripts/review/verify_draws.py"


rule scorecard:
    input:
        claims="config/claims.yaml",
        schema="workflow/schemas/claims.schema.yaml",
        provenance="results/data/provenance.json",
        tables=expand("results/tables/{table}.csv", table=SCORED_TABLES),
        library=library("review/scorecard"),
    output:
        **table_outputs("scorecard", "The papers' claims, and what this run found", "Scorecard"),
        summary="results/tables/scorecard.txt",
    log:
        "results/logs/scorecard.log",
    benchmark:
        "results/benchmarks/scorecard.tsv"
    conda:
        "../../environment.yml"
    message:
        "Verdicts on the papers' claims"
    script:
        "../scripts/review/scorecard.py"


rule everything:
    input:
        "results/tables/scorecard.csv",
        for_each_state("results/figures/counties_{state}.svg"),
        "results/figures/sex_by_age_distances.svg",
        of_printed_laws("results/figures/{experiment}_tv_bound_{law}.svg"),
        of_experiments("results/figures/{experiment}_noise.svg"),
        of_experiments("results/figures/{experiment}_constraints.svg", having=["constraints"]),
        "results/tables/meeting_times.csv",


rule record_config:
    input:
        rules.everything.input,
        library=library("review/record_config"),
    output:
        config="results/config.yaml",
    log:
        "results/logs/record_config.log",
    conda:
        "../../environment.yml"
    params:
        settings=SETTINGS,
    message:
        "The config that made all this: results/config.yaml"
    script:
        "../scripts/review/record_config.py"


rule build_report:
    input:
        rules.everything.input,
        config="results/config.yaml",
        # captions, labels and categories live here
        wording=sorted(str(path) for path in (HERE / "workflow/report").rglob("*.rst")),
    output:
        report="results/report.html",
    log:
        "results/logs/build_report.log",
    benchmark:
        "results/benchmarks/build_report.tsv"
    conda:
        "../../environment.yml"
    params:
        snakefile=str(HERE / "Snakefile"),
    message:
        "Report: results/report.html"
    script:
        "../scripts/review/build_report.py"
