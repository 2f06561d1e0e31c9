"""A sweep: the county experiment in several scenarios, each in its own folder, and one figure."""

import re


wildcard_constraints:
    sweep=SWEEP or "there-is-none",
    scenario="|".join(map(re.escape, SCENARIOS)) or "there-is-none",
    vintage="[0-9]{8}",


rule sweep:
    input:
        sweep_goals,


use rule fetch_demonstration_data as fetch_vintage with:
    input:
        local=lambda wildcards: file_of(config, wildcards.vintage),
        ledger=config["data"]["ledger"],
        published=config["data"]["published"],
        library=library("data/fetch_demonstration_data"),
    output:
        counties="results/sweeps/{sweep}/data/{vintage}/counties.csv",
        provenance="results/sweeps/{sweep}/data/{vintage}/provenance.json",
    log:
        "results/sweeps/{sweep}/data/{vintage}/fetch_demonstration_data.log",
    benchmark:
        "results/sweeps/{sweep}/data/{vintage}/fetch_demonstration_data.tsv"
    params:
        vintage=lambda wildcards: wildcards.vintage,
        cache="results/data/download",


use rule sample_counties as sample_scenario with:
    input:
        counties=of_its_vintage("counties.csv"),
        library=library("counties/sample_counties"),
    output:
        draws="results/sweeps/{sweep}/{scenario}/draws/counties_{state}.nc",
        speed="results/sweeps/{sweep}/{scenario}/benchmarks/counties_sampling_{state}.json",
    log:
        "results/sweeps/{sweep}/{scenario}/logs/sample_counties_{state}.log",
    benchmark:
        "results/sweeps/{sweep}/{scenario}/benchmarks/sample_counties_{state}.tsv"
    params:
        **{
            key: of_scenario("counties", key)
            for key in (
                "epsilon",
                "norm",
                "chains",
                "draws",
                "burn_in",
                "thin",
                "basis",
                "acceptance",
                "proposal",
                "overdispersed",
            )
        },
        seed=config["seed"],
    message:
        "Noise for the counties of {wildcards.state} in scenario {wildcards.scenario}"


rule collect_scenario:
    input:
        counties=of_its_vintage("counties.csv"),
        provenance=of_its_vintage("provenance.json"),
        draws=of_its_states("results/sweeps/{sweep}/{scenario}/draws/counties_{state}.nc"),
        library=library("counties/collect_scenario"),
    output:
        rhat="results/sweeps/{sweep}/{scenario}/tables/counties_rhat.csv",
        noise="results/sweeps/{sweep}/{scenario}/tables/counties_noise.csv",
        states="results/sweeps/{sweep}/{scenario}/tables/counties_states.csv",
        scenario="results/sweeps/{sweep}/{scenario}/tables/scenario.csv",
        settings="results/sweeps/{sweep}/{scenario}/scenario.yaml",
        provenance="results/sweeps/{sweep}/{scenario}/provenance.json",
    log:
        "results/sweeps/{sweep}/{scenario}/logs/collect_scenario.log",
    benchmark:
        "results/sweeps/{sweep}/{scenario}/benchmarks/collect_scenario.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
    params:
        settings=of_scenario(),
    message:
        "Convergence and tables of scenario {wildcards.scenario}"
    script:
        "../scripts/counties/collect_scenario.py"


rule compare_scenarios:
    input:
        scenarios=expand(
            "results/sweeps/{{sweep}}/{scenario}/tables/scenario.csv", scenario=SCENARIOS
        ),
        library=library("counties/compare_scenarios"),
    output:
        **table_outputs("sweep_{sweep}", "Scenarios side by side", "Counties", caption="sweep"),
        **figure_outputs("sweep_{sweep}", "Scenarios side by side", "Counties", caption="sweep"),
        data="results/figures/sweep_{sweep}.csv",
    log:
        "results/logs/compare_scenarios_{sweep}.log",
    benchmark:
        "results/benchmarks/compare_scenarios_{sweep}.tsv"
    conda:
        "../../environment.yml"
    message:
        "Scenarios of {wildcards.sweep} side by side"
    script:
        "../scripts/counties/compare_scenarios.py"
