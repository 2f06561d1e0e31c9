"""Run a sweep: the county experiment in several scenarios, each with its own folder."""

from snakemake.utils import Paramspace

from reproduction.jobs import scenarios

SWEEP = config["sweep"]["name"] if "sweep" in config else ""
SPACE = Paramspace(scenarios.list_scenarios(config), filename_params="*")
FOLDER = f"results/sweeps/{{sweep}}/{SPACE.wildcard_pattern}"
DATA = "results/sweeps/{sweep}/data/{vintage}"


wildcard_constraints:
    sweep=SWEEP or "there-is-none",
    states="[A-Z-]+",
    norm="l[12]",
    epsilon="[0-9.e-]+",
    vintage="[0-9]{8}",


rule sweep:
    input:
        lambda wildcards: scenarios.list_comparison_files(SWEEP),


use rule fetch_demonstration_data as fetch_vintage with:
    input:
        local=lambda wildcards: scenarios.find_local_files(config, wildcards.vintage),
        ledger=LEDGER,
        published=PUBLISHED,
    output:
        counties=f"{DATA}/counties.csv",
        provenance=f"{DATA}/provenance.json",
    log:
        f"{DATA}/fetch_demonstration_data.log",
    params:
        sources=code(),
        vintage=lambda wildcards: wildcards.vintage,
        cache="results/data/download",


use rule sample_counties as sample_scenario with:
    input:
        counties=rules.fetch_vintage.output.counties,
    output:
        draws=f"{FOLDER}/draws/counties_{{state}}.nc",
    log:
        f"{FOLDER}/logs/sample_counties_{{state}}.log",
    benchmark:
        f"{FOLDER}/benchmarks/sample_counties_{{state}}.tsv"
    params:
        sources=code("counties"),
        walk=lambda wildcards: scenarios.select_walk(
            scenarios.select_scenario(config, SPACE.instance(wildcards))
        ),
        seed=config["seed"],
    message:
        "Sampling noise for the counties of {wildcards.state}: epsilon {wildcards.epsilon}, norm "
        "{wildcards.norm}"


rule collect_scenario:
    input:
        counties=rules.fetch_vintage.output.counties,
        provenance=rules.fetch_vintage.output.provenance,
        draws=lambda wildcards: expand(
            rules.sample_scenario.output.draws,
            **{**wildcards, "state": wildcards.states.split("-")},
        ),
    output:
        rhat=f"{FOLDER}/tables/counties_rhat.csv",
        noise=f"{FOLDER}/tables/counties_noise.csv",
        state=f"{FOLDER}/tables/counties_states.csv",
        scenario=f"{FOLDER}/tables/scenario.csv",
        settings=f"{FOLDER}/scenario.yaml",
        provenance=f"{FOLDER}/provenance.json",
    log:
        f"{FOLDER}/logs/collect_scenario.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("counties"),
        settings=lambda wildcards: scenarios.select_scenario(config, SPACE.instance(wildcards)),
    script:
        "../scripts/counties/collect_scenario.py"


rule compare_scenarios:
    input:
        scenarios=expand(
            f"results/sweeps/{SWEEP}/{{scenario}}/tables/scenario.csv",
            scenario=SPACE.instance_patterns,
        ),
    output:
        **figure_files(figure="results/figures/sweep_{sweep}.svg"),
        table="results/tables/sweep_{sweep}.csv",
        curves="results/figures/sweep_{sweep}.csv",
    log:
        logs("compare_scenarios_{sweep}"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("counties"),
    script:
        "../scripts/counties/compare_scenarios.py"


use rule render_tables as render_sweep_table with:
    input:
        "results/tables/sweep_{sweep}.csv",
    output:
        **rendered(["results/tables/sweep_{sweep}.csv"]),
    log:
        logs("render_sweep_table_{sweep}"),
    params:
        sources=presentation("counties", "review"),
