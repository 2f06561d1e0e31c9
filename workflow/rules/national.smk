"""All states by all systems at many budgets, and TopDown down to blocks: `make national`.

A target of its own, no part of `all`. There is no checkpoint: which jobs there are follows from the
config alone. Short releases are batched into jobs by `national.batch`.
"""

from reproduction.national.settings import batches, jobs_of, states_of

NATIONAL = config["national"]
STATES_RUN = states_of(NATIONAL, BASE / config["data"]["published"])
BUDGETS = {name: NATIONAL[name] for name in ("epsilons", "rhos", "rates")}
JOBS = jobs_of(NATIONAL, STATES_RUN)
DESCENTS = batches(STATES_RUN, NATIONAL["batch"]["blocks"])
NATIONAL_TABLES = {
    "errors": "Errors of every system in all states together",
    "states": "Errors of every system in each state",
    "levels": "Errors of TopDown from the nation to synthetic blocks",
}
COST_TABLES = {
    "jobs": "The national runs' jobs, as measured",
    "cost": "How long they would take on other machines, computed",
}


include: "functions/national.smk"


rule run_releases:
    input:
        histogram=config["topdown"]["histogram"],
        published=config["data"]["published"],
    output:
        errors="results/national/{family}_{part}_errors.csv",
    log:
        logs("run_releases_{family}_{part}"),
    benchmark:
        benchmarks("run_releases_{family}_{part}")
    wildcard_constraints:
        family=any_of(JOBS),
        part="[0-9]+",
    conda:
        ENVIRONMENT
    resources:
        # swapping holds every record of a state
        mem_mb=lambda wildcards: 4000 if wildcards.family == "swapping" else 1000,
        runtime=30,
    params:
        library=library("national/run_releases"),
        seed=config["seed"],
        states=STATES_RUN,
        budgets=BUDGETS,
        batch=lambda wildcards: NATIONAL["batch"][wildcards.family],
    message:
        "National releases: {wildcards.family}, job {wildcards.part}"
    script:
        "../scripts/national/run_releases.py"


rule release_states:
    input:
        histogram=config["topdown"]["histogram"],
        published=config["data"]["published"],
    output:
        released="results/national/states.csv",
        errors="results/national/states_errors.csv",
    log:
        logs("release_states"),
    benchmark:
        benchmarks("release_states")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        library=library("national/release_states"),
        seed=config["seed"],
        states=STATES_RUN,
    message:
        "TopDown: the nation and its states"
    script:
        "../scripts/national/release_states.py"


rule descend_states:
    input:
        histogram=config["topdown"]["histogram"],
        published=config["data"]["published"],
        released=rules.release_states.output.released,
    output:
        errors="results/national/blocks_{part}_errors.csv",
    log:
        logs("descend_states_{part}"),
    benchmark:
        benchmarks("descend_states_{part}")
    wildcard_constraints:
        part="[0-9]+",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1500,
        runtime=60,
    params:
        library=library("national/descend_states"),
        seed=config["seed"],
        states=STATES_RUN,
        blocks=NATIONAL["blocks"],
        batch=lambda wildcards: DESCENTS[int(wildcards.part)],
    message:
        "TopDown from states to blocks, job {wildcards.part}"
    script:
        "../scripts/national/descend_states.py"


rule collect_national:
    input:
        errors=of_all_releases(rules.run_releases.output.errors),
        levels=[
            rules.release_states.output.errors,
            *of_all_descents(rules.descend_states.output.errors),
        ],
    output:
        **national_tables(NATIONAL_TABLES),
    log:
        logs("collect_national"),
    benchmark:
        benchmarks("collect_national")
    conda:
        ENVIRONMENT
    params:
        library=library("national/collect_national"),
        titles=NATIONAL_TABLES,
    message:
        "Tables of the national runs"
    script:
        "../scripts/national/collect_national.py"


rule cost_national:
    input:
        releases=of_all_releases(rules.run_releases.benchmark),
        states=[rules.release_states.benchmark],
        descents=of_all_descents(rules.descend_states.benchmark),
        collected=[rules.collect_national.benchmark],
    output:
        **national_tables(COST_TABLES),
    log:
        logs("cost_national"),
    conda:
        ENVIRONMENT
    params:
        library=library("national/cost_national"),
        titles=COST_TABLES,
        cost=NATIONAL["cost"],
    message:
        "What the national runs take on one machine and on many"
    script:
        "../scripts/national/cost_national.py"


rule national:
    input:
        rules.collect_national.output,
        rules.cost_national.output,


SENT |= {"run_releases", "release_states", "descend_states"}
