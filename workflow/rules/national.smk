"""Release all states by all systems at many budgets, and run TopDown down to synthetic blocks.

The command `make national` runs these rules, which are not part of the target `all`. A further rule
draws nested noise of all these blocks. Each job makes several releases. The block `national.batch`
of the configuration gives the number of releases.
"""

from reproduction.national.settings import count_jobs, list_states, split_batches

NATIONAL = config["national"]
STATES_RUN = list_states(NATIONAL, BASE / config["data"]["published"])
JOBS = count_jobs(NATIONAL, STATES_RUN)
RELEASES = [f"{family}_{part}" for family in JOBS for part in range(JOBS[family])]
DESCENTS = split_batches(STATES_RUN, NATIONAL["batch"]["blocks"])


rule run_releases:
    input:
        histogram=HISTOGRAM,
        published=PUBLISHED,
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
        # swapping keeps every record of a state in memory
        mem_mb=lambda wildcards: 4000 if wildcards.family == "swapping" else 1000,
        runtime=30,
    params:
        sources=code("national"),
        seed=config["seed"],
        states=STATES_RUN,
        budgets={name: NATIONAL[name] for name in ("epsilons", "rhos", "rates")},
        batch=lambda wildcards: NATIONAL["batch"][wildcards.family],
    script:
        "../scripts/national/run_releases.py"


rule release_states:
    input:
        histogram=HISTOGRAM,
        published=PUBLISHED,
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
        sources=code("national"),
        seed=config["seed"],
        states=STATES_RUN,
    script:
        "../scripts/national/release_states.py"


rule descend_states:
    input:
        histogram=HISTOGRAM,
        published=PUBLISHED,
        released="results/national/states.csv",
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
        sources=code("national"),
        seed=config["seed"],
        states=STATES_RUN,
        blocks=NATIONAL["blocks"],
        batch=lambda wildcards: DESCENTS[int(wildcards.part)],
    script:
        "../scripts/national/descend_states.py"


rule draw_block_noise:
    input:
        histogram=HISTOGRAM,
        published=PUBLISHED,
    output:
        levels="results/tables/national_nested.csv",
    log:
        logs("draw_block_noise"),
    benchmark:
        benchmarks("draw_block_noise")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        sources=code("national"),
        seed=config["seed"],
        states=STATES_RUN,
        blocks=NATIONAL["blocks"],
    script:
        "../scripts/national/draw_block_noise.py"


rule collect_national:
    input:
        errors=expand("results/national/{release}_errors.csv", release=RELEASES),
        states="results/national/states_errors.csv",
        blocks=expand("results/national/blocks_{part}_errors.csv", part=range(len(DESCENTS))),
    output:
        errors="results/tables/national_errors.csv",
        states="results/tables/national_states.csv",
        levels="results/tables/national_levels.csv",
    log:
        logs("collect_national"),
    benchmark:
        benchmarks("collect_national")
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("national"),
    script:
        "../scripts/national/collect_national.py"


rule cost_national:
    input:
        releases=[
            *expand("results/benchmarks/run_releases_{release}.tsv", release=RELEASES),
            "results/benchmarks/draw_block_noise.tsv",
        ],
        states=["results/benchmarks/release_states.tsv"],
        descents=expand("results/benchmarks/descend_states_{part}.tsv", part=range(len(DESCENTS))),
        collected=["results/benchmarks/collect_national.tsv"],
    output:
        jobs="results/tables/national_jobs.csv",
        cost="results/tables/national_cost.csv",
    log:
        logs("cost_national"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("national"),
        cost=NATIONAL["cost"],
    script:
        "../scripts/national/cost_national.py"


NATIONAL_TABLES = [
    *rules.collect_national.output,
    *rules.draw_block_noise.output,
    *rules.cost_national.output,
]


use rule render_tables as render_national_tables with:
    input:
        NATIONAL_TABLES,
    output:
        **rendered(NATIONAL_TABLES),
    log:
        logs("render_national_tables"),
    params:
        sources=presentation("national", "review"),


rule national:
    input:
        rules.render_national_tables.output,
