"""Run the experiments on integer lattices (ISDP, Sections 5, E.2 and E.3).

ISDP is *Integer Subspace Differential Privacy*.
"""

from reproduction.lattices.settings import Experiments

VARIANTS, COUPLING, NOISE = (config["lattices"][key] for key in ("variants", "coupling", "noise"))
LATTICES = Experiments(config["lattices"]["experiments"])
EVERY_LAW, PRINTED_LAWS = LATTICES.pairs(), LATTICES.pairs("printed")
LAWS, LAW, PRINTED = (
    lookup(dpath=f"lattices/experiments/{{experiment}}/{part}", within=config)
    for part in ("laws", "laws/{law}", "printed")
)


wildcard_constraints:
    experiment=any_of(LATTICES),
    law=any_of(dict.fromkeys(EVERY_LAW["law"])),


rule couple_chains:
    output:
        curves="results/coupling/{experiment}_{law}_curves.csv",
        trails="results/coupling/{experiment}_{law}_lags.csv",
        meetings="results/coupling/{experiment}_{law}_meetings.csv",
    log:
        logs("couple_chains_{experiment}_{law}"),
    benchmark:
        benchmarks("couple_chains_{experiment}_{law}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        sources=code("lattices"),
        seed=config["seed"],
        entry=LATTICES.lattice_of,
        law=LAW,
        variants=VARIANTS,
        coupling=COUPLING,
    script:
        "../scripts/lattices/couple_chains.py"


rule sample_lattice:
    input:
        meetings="results/coupling/{experiment}_{law}_meetings.csv",
    output:
        one_draw="results/tables/{experiment}_draw_{law}.csv",
        draws="results/draws/{experiment}_{law}.nc",
        paper="results/draws/paper_{experiment}_{law}.nc",
    log:
        logs("sample_lattice_{experiment}_{law}"),
    benchmark:
        benchmarks("sample_lattice_{experiment}_{law}")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        sources=code("lattices"),
        seed=config["seed"],
        entry=LATTICES.lattice_of,
        law=LAW,
        variants=VARIANTS,
        noise=NOISE,
        cap=COUPLING["cap"],
    script:
        "../scripts/lattices/sample_lattice.py"


rule describe_lattice:
    input:
        draws=expand("results/draws/{{experiment}}_{law}.nc", law=LAWS),
        paper=expand("results/draws/paper_{{experiment}}_{law}.nc", law=LAWS),
        exact=expand("results/draws/exact_{{experiment}}_{law}.nc", law=LAWS),
        curves=expand("results/coupling/{{experiment}}_{law}_curves.csv", law=LAWS),
    output:
        summary="results/tables/{experiment}_noise_summary.csv",
        exact_summary="results/tables/{experiment}_noise_summary_exact.csv",
        boxes="results/figures/{experiment}_noise.csv",
        exact_boxes="results/figures/{experiment}_noise_exact.csv",
        laws="results/figures/exact_{experiment}.csv",
        norms="results/summaries/{experiment}_norms.csv",
        agreement="results/summaries/exact_{experiment}_agreement.csv",
        distances="results/coupling/{experiment}_distances.csv",
    log:
        logs("describe_lattice_{experiment}"),
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2500,
    params:
        sources=code("lattices", "exactness"),
        seed=config["seed"],
        entry=LATTICES.lattice_of,
        laws=LAWS,
        variants=VARIANTS,
        variant=NOISE["variant"],
        following={key: config["exactness"][key] for key in ("chains", "points", "longest")},
    script:
        "../scripts/lattices/describe_lattice.py"


rule collect_lattices:
    input:
        meetings=expand("results/coupling/{experiment}_{law}_meetings.csv", zip, **EVERY_LAW),
        norms=expand("results/summaries/{experiment}_norms.csv", experiment=LATTICES),
    output:
        meetings="results/tables/meeting_times.csv",
        convergence="results/tables/lattice_convergence.csv",
        norms="results/tables/lattice_norms.csv",
    log:
        logs("collect_lattices"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("lattices"),
        printed=config["from_the_papers"],
    script:
        "../scripts/lattices/collect_lattices.py"


rule check_statements:
    input:
        published=PUBLISHED,
    output:
        statements="results/tables/lattice_statements.csv",
    log:
        logs("check_statements"),
    benchmark:
        benchmarks("check_statements")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
    params:
        sources=code("lattices"),
        seed=config["seed"],
    script:
        "../scripts/lattices/check_statements.py"


rule print_confidential:
    output:
        confidential="results/tables/{experiment}_confidential.csv",
    log:
        logs("print_confidential_{experiment}"),
    wildcard_constraints:
        experiment=any_of(LATTICES.having("counts")),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("lattices"),
        entry=LATTICES.lattice_of,
    script:
        "../scripts/lattices/print_confidential.py"


rule place_printed:
    input:
        draws=expand("results/draws/{{experiment}}_{law}.nc", law=PRINTED),
    output:
        printed="results/tables/{experiment}_printed.csv",
    log:
        logs("place_printed_{experiment}"),
    wildcard_constraints:
        experiment=any_of(LATTICES.having("printed")),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code("lattices"),
        printed=PRINTED,
        laws=LAWS,
    script:
        "../scripts/lattices/place_printed.py"


rule plot_lattice:
    input:
        boxes="results/figures/{experiment}_noise.csv",
        exact_boxes="results/figures/{experiment}_noise_exact.csv",
        agreement="results/summaries/exact_{experiment}_agreement.csv",
        curves=expand("results/coupling/{{experiment}}_{law}_curves.csv", law=LAWS),
        distances="results/coupling/{experiment}_distances.csv",
    output:
        **figure_files(
            noise="results/figures/{experiment}_noise.svg",
            exact="results/figures/{experiment}_noise_exact.svg",
            laws="results/figures/exact_{experiment}.svg",
            bound="results/figures/{experiment}_tv_bound.svg",
            distance="results/figures/{experiment}_tv_distance.svg",
        ),
        points="results/figures/{experiment}_tv_bound.csv",
    log:
        logs("plot_lattice_{experiment}"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("lattices"),
        unit=lambda wildcards: "record" if "records" in LATTICES.lattice_of(wildcards) else "cell",
        laws=LAWS,
        runs=COUPLING["runs"],
        draws=NOISE["chains"] * NOISE["draws"],
        exact_draws=config["exactness"]["draws"],
    script:
        "../scripts/lattices/plot_lattice.py"


rule plot_bound:
    input:
        curves="results/coupling/{experiment}_{law}_curves.csv",
        distances="results/coupling/{experiment}_distances.csv",
    output:
        **figure_files(bound="results/figures/{experiment}_tv_bound_{law}.svg"),
        points="results/figures/{experiment}_tv_bound_{law}.csv",
    log:
        logs("plot_bound_{experiment}_{law}"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("lattices"),
        law=LAW,
        runs=COUPLING["runs"],
    script:
        "../scripts/lattices/plot_bound.py"


rule plot_constraints:
    output:
        **figure_files(constraints="results/figures/{experiment}_constraints.svg"),
        pairs="results/figures/{experiment}_constraints.csv",
    log:
        logs("plot_constraints_{experiment}"),
    wildcard_constraints:
        experiment=any_of(LATTICES.having("constraints")),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("lattices"),
        entry=LATTICES.lattice_of,
    script:
        "../scripts/lattices/plot_constraints.py"


LATTICE_TABLES = [
    *rules.collect_lattices.output,
    *rules.check_statements.output,
    *expand(made_by("tables", rules.describe_lattice), experiment=LATTICES),
    *expand("results/tables/{experiment}_draw_{law}.csv", zip, **EVERY_LAW),
    *expand("results/tables/{experiment}_confidential.csv", experiment=LATTICES.having("counts")),
    *expand("results/tables/{experiment}_printed.csv", experiment=LATTICES.having("printed")),
]


use rule render_tables as render_lattice_tables with:
    input:
        LATTICE_TABLES,
    output:
        **rendered(LATTICE_TABLES),
    log:
        logs("render_lattice_tables"),
    params:
        sources=presentation("lattices", "review"),


rule lattices:
    input:
        rules.render_lattice_tables.output,
        expand(rules.plot_lattice.output, experiment=LATTICES),
        expand(rules.plot_bound.output, zip, **PRINTED_LAWS),
        expand(rules.plot_constraints.output, experiment=LATTICES.having("constraints")),
