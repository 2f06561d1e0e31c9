"""A sweep: the county experiment in several scenarios, each in its own folder, and one figure."""

from snakemake.logging import logger

from reproduction.running.ending import closing_words, sweep_words, when_nothing_is_done
from reproduction.running.scenarios import file_of, scenarios_of

SWEEP = config["sweep"]["name"] if "sweep" in config else ""
SCENARIOS = scenarios_of(config)
FOLDER = "results/sweeps/{sweep}/{scenario}"
DATA = "results/sweeps/{sweep}/data/{vintage}"


wildcard_constraints:
    sweep=SWEEP or "there-is-none",
    scenario=any_of(SCENARIOS),
    vintage="[0-9]{8}",


include: "functions/running.smk"


rule sweep:
    input:
        sweep_goals,


use rule fetch_demonstration_data as fetch_vintage with:
    input:
        local=lambda wildcards: file_of(config, wildcards.vintage),
        ledger=config["data"]["ledger"],
        ledger_schema=str(HERE / "workflow/schemas/sources.schema.yaml"),
        published=config["data"]["published"],
    output:
        counties=f"{DATA}/counties.csv",
        provenance=f"{DATA}/provenance.json",
    log:
        f"{DATA}/fetch_demonstration_data.log",
    benchmark:
        f"{DATA}/fetch_demonstration_data.tsv"
    params:
        library=library("data/fetch_demonstration_data"),
        vintage=lambda wildcards: wildcards.vintage,
        cache="results/data/download",


use rule sample_counties as sample_scenario with:
    input:
        counties=for_each(rules.fetch_vintage.output.counties, vintage=its_vintage),
    output:
        draws=f"{FOLDER}/draws/counties_{{state}}.nc",
        speed=f"{FOLDER}/benchmarks/counties_sampling_{{state}}.json",
    log:
        f"{FOLDER}/logs/sample_counties_{{state}}.log",
    benchmark:
        f"{FOLDER}/benchmarks/sample_counties_{{state}}.tsv"
    params:
        library=library("counties/sample_counties"),
        walk=lambda wildcards: {key: scenario_of(wildcards)["counties"][key] for key in WALK},
        seed=config["seed"],
    message:
        "Noise for the counties of {wildcards.state} in scenario {wildcards.scenario}"


rule collect_scenario:
    input:
        counties=for_each(rules.fetch_vintage.output.counties, vintage=its_vintage),
        provenance=for_each(rules.fetch_vintage.output.provenance, vintage=its_vintage),
        draws=for_each(rules.sample_scenario.output.draws, state=its_states),
    output:
        rhat=f"{FOLDER}/tables/counties_rhat.csv",
        noise=f"{FOLDER}/tables/counties_noise.csv",
        states=f"{FOLDER}/tables/counties_states.csv",
        scenario=f"{FOLDER}/tables/scenario.csv",
        settings=f"{FOLDER}/scenario.yaml",
        provenance=f"{FOLDER}/provenance.json",
    log:
        f"{FOLDER}/logs/collect_scenario.log",
    benchmark:
        f"{FOLDER}/benchmarks/collect_scenario.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        library=library("counties/collect_scenario"),
        settings=scenario_of,
    message:
        "Convergence and tables of scenario {wildcards.scenario}"
    script:
        "../scripts/counties/collect_scenario.py"


rule compare_scenarios:
    input:
        scenarios=for_each(rules.collect_scenario.output.scenario, scenario=list(SCENARIOS)),
    output:
        **table_outputs("sweep_{sweep}", "Scenarios side by side", "Counties", caption="sweep"),
        **figure_outputs("sweep_{sweep}", "Scenarios side by side", "Counties", caption="sweep"),
        data="results/figures/sweep_{sweep}.csv",
    log:
        logs("compare_scenarios_{sweep}"),
    benchmark:
        benchmarks("compare_scenarios_{sweep}")
    conda:
        ENVIRONMENT
    params:
        library=library("counties/compare_scenarios"),
    message:
        "Scenarios of {wildcards.sweep} side by side"
    script:
        "../scripts/counties/compare_scenarios.py"


SENT.add("sample_scenario")


if workflow.is_main_process:
    # asked when it is said: only then does Snakemake know whether the run is a dry one
    when_nothing_is_done(lambda: workflow.dryrun or print(ending()), logger)
