"""County totals under each state's total (ISDP, Sections 5 and E.4)."""

COUNTIES = config["counties"]

config["words"]["counties"] = (
    "Generalized Laplace mechanism, {norm} norm (l1 is inferred, see the config), epsilon = "
    "{epsilon:g} per unit of norm, one invariant: the state's total. {chains} chains of {draws} "
    "kept draws, {thin} sweeps apart, after {burn_in} sweeps of burn-in from starts drawn at "
    "epsilon = {overdispersed[epsilon]:g} (ours). Basis ``{basis}``, acceptance ``{acceptance}``, "
    "proposal parameter {proposal:g} (ours). Seed {seed}."
).format(seed=config["seed"], **COUNTIES)


checkpoint select_states:
    message:
        "States to run"
    input:
        regressions="results/tables/das_regressions.csv",
        provenance="results/data/provenance.json",
        library=library("counties", "files", "logs"),
    output:
        states="results/tables/states.csv",
    params:
        states=COUNTIES["states"],
        stand_in=COUNTIES["stand_in_states"],
    log:
        "results/logs/select_states.log",
    script:
        "../scripts/select_states.py"


rule sample_counties:
    message:
        "Noise for the counties of {wildcards.state}"
    input:
        counties="results/data/counties.csv",
        library=library("counties", "metropolis", "seeds", "drawfile", "logs"),
    output:
        draws="results/draws/counties_{state}.nc",
        speed="results/benchmarks/counties_sampling_{state}.json",
    params:
        seed=config["seed"],
        **{
            key: COUNTIES[key]
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
    resources:
        mem_mb=1000,
    log:
        "results/logs/sample_counties_{state}.log",
    benchmark:
        "results/benchmarks/sample_counties_{state}.tsv"
    script:
        "../scripts/sample_counties.py"


rule summarise_counties:
    message:
        "Convergence and summaries for {wildcards.state}"
    input:
        counties="results/data/counties.csv",
        draws="results/draws/counties_{state}.nc",
        library=library("counties", "drawfile", "logs"),
    output:
        rhat="results/summaries/counties_{state}_rhat.csv",
        noise="results/summaries/counties_{state}_noise.csv",
        state="results/summaries/counties_{state}_state.csv",
        boxes="results/figures/counties_{state}.csv",
    params:
        epsilon=COUNTIES["epsilon"],
        norm=COUNTIES["norm"],
    resources:
        mem_mb=1000,
    log:
        "results/logs/summarise_counties_{state}.log",
    benchmark:
        "results/benchmarks/summarise_counties_{state}.tsv"
    script:
        "../scripts/summarise_counties.py"


rule plot_counties:
    message:
        "Figure of {wildcards.state}"
    input:
        boxes="results/figures/counties_{state}.csv",
        library=library("plotting", "logs"),
    output:
        svg=report(
            "results/figures/counties_{state}.svg",
            caption="../report/counties.rst",
            category="Counties",
            subcategory="Noise of each county (ISDP Figs 2, 8)",
            labels={"what": "{state}", "type": "figure"},
        ),
        png="results/figures/counties_{state}.png",
    params:
        epsilon=COUNTIES["epsilon"],
        norm=COUNTIES["norm"],
        chains=COUNTIES["chains"],
        draws=COUNTIES["draws"],
    log:
        "results/logs/plot_counties_{state}.log",
    benchmark:
        "results/benchmarks/plot_counties_{state}.tsv"
    script:
        "../scripts/plot_counties.py"


def selected_states(wildcards):
    with open(checkpoints.select_states.get().output.states) as file:
        return [row["state"] for row in csv.DictReader(file)]


def for_each_state(pattern):
    return lambda wildcards: expand(pattern, state=selected_states(wildcards))


rule collect_counties:
    message:
        "Tables of all states"
    input:
        rhat=for_each_state("results/summaries/counties_{state}_rhat.csv"),
        noise=for_each_state("results/summaries/counties_{state}_noise.csv"),
        state=for_each_state("results/summaries/counties_{state}_state.csv"),
        speed=for_each_state("results/benchmarks/counties_sampling_{state}.json"),
        library=library("counties", "plotting", "files", "logs"),
    output:
        rhat=report(
            "results/tables/counties_rhat.csv",
            caption="../report/counties_rhat.rst",
            category="Counties",
            subcategory="Convergence",
            labels={"what": "R-hat of each county of each state", "type": "table"},
        ),
        rhat_md="results/tables/counties_rhat.md",
        noise=report(
            "results/tables/counties_noise.csv",
            caption="../report/counties_noise.rst",
            category="Counties",
            subcategory="Noise of each county (ISDP Figs 2, 8)",
            labels={"what": "Noise of each county of each state", "type": "table"},
        ),
        noise_md="results/tables/counties_noise.md",
        states=report(
            "results/tables/counties_states.csv",
            caption="../report/counties_states.rst",
            category="Counties",
            subcategory="Convergence",
            labels={"what": "The states at a glance", "type": "table"},
        ),
        states_md="results/tables/counties_states.md",
        speed="results/benchmarks/counties_sampling.csv",
        strips="results/figures/counties_convergence.csv",
        svg=report(
            "results/figures/counties_convergence.svg",
            caption="../report/counties_convergence.rst",
            category="Counties",
            subcategory="Convergence",
            labels={"what": "R-hat and effective draws", "type": "figure"},
        ),
        png="results/figures/counties_convergence.png",
    params:
        chains=COUNTIES["chains"],
        draws=COUNTIES["draws"],
    log:
        "results/logs/collect_counties.log",
    benchmark:
        "results/benchmarks/collect_counties.tsv"
    script:
        "../scripts/collect_counties.py"


rule verify_draws:
    message:
        "Invariants of every draw in results/, checked again in exact integers"
    input:
        draws=for_each_state("results/draws/counties_{state}.nc"),
        library=library("drawfile", "files", "logs"),
    output:
        csv=report(
            "results/tables/draws_verified.csv",
            caption="../report/draws_verified.rst",
            category="Scorecard",
            labels={"what": "Invariants of every draw", "type": "table"},
        ),
        md="results/tables/draws_verified.md",
    log:
        "results/logs/verify_draws.log",
    benchmark:
        "results/benchmarks/verify_draws.tsv"
    script:
        "../scripts/verify_draws.py"
