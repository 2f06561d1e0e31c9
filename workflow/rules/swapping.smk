"""Permutation swapping (SWAP): its budget, its loss, the swap of Massachusetts in 1940, attacks."""

SWAPPING = config["swapping"]


rule compute_swapping_loss:
    input:
        budgets=HERE / "data/swapping/budgets.csv",
        massachusetts=HERE / "data/swapping/massachusetts_1940.csv",
    output:
        budgets="results/tables/swapping_budgets.csv",
        remarks="results/tables/swapping_remarks.csv",
        exact_loss="results/tables/swapping_exact_loss.csv",
        universe_loss="results/tables/swapping_universe_loss.csv",
        table_loss="results/tables/swapping_table_loss.csv",
        table_bounds="results/tables/swapping_table_bounds.csv",
        profile="results/tables/swapping_profile.csv",
        variants="results/tables/swapping_variants.csv",
        budget_points="results/figures/swapping_budget.csv",
        tightness_points="results/figures/swapping_tightness.csv",
    log:
        logs("compute_swapping_loss"),
    benchmark:
        benchmarks("compute_swapping_loss")
    conda:
        ENVIRONMENT
    params:
        sources=code("swapping"),
        settings=SWAPPING,
    message:
        "Budgets and losses of swapping"
    script:
        "../scripts/swapping/compute_swapping_loss.py"


rule sample_swapping_permutations:
    output:
        law="results/tables/swapping_law.csv",
    log:
        logs("sample_swapping_permutations"),
    benchmark:
        benchmarks("sample_swapping_permutations")
    conda:
        ENVIRONMENT
    params:
        sources=code("swapping"),
        seed=config["seed"],
    message:
        "Sampled permutations against their exact distribution"
    script:
        "../scripts/swapping/sample_swapping_permutations.py"


rule compare_swapping_guarantees:
    input:
        budgets=HERE / "data/swapping/budgets.csv",
        massachusetts=HERE / "data/swapping/massachusetts_1940.csv",
    output:
        flavours="results/tables/swapping_flavours.csv",
        flavours_cited="results/tables/swapping_flavours_cited.csv",
        flavours_compared="results/tables/swapping_flavours_compared.csv",
        topdown_budget="results/tables/swapping_topdown_budget.csv",
        necessity="results/tables/swapping_necessity.csv",
        redundant="results/tables/swapping_redundant.csv",
        perverse_guide="results/tables/swapping_perverse_guide.csv",
        errata="results/tables/swapping_errata.csv",
        flavours_points="results/figures/swapping_flavours.csv",
    log:
        logs("compare_swapping_guarantees"),
    benchmark:
        benchmarks("compare_swapping_guarantees")
    conda:
        ENVIRONMENT
    params:
        sources=code("swapping"),
    message:
        "Guarantees of swapping, TopDown and noise"
    script:
        "../scripts/swapping/compare_swapping_guarantees.py"


rule attack_swapping:
    input:
        massachusetts=HERE / "data/swapping/massachusetts_1940.csv",
    output:
        attack="results/tables/swapping_attack.csv",
        attack_state="results/tables/swapping_attack_state.csv",
        attack_sizes="results/tables/swapping_attack_sizes.csv",
        advantages="results/tables/swapping_advantages.csv",
        against_noise="results/tables/swapping_against_noise.csv",
        equal_epsilon="results/tables/swapping_equal_epsilon.csv",
        noise_by_size="results/tables/swapping_noise_by_size.csv",
        attack_points="results/figures/swapping_attack.csv",
        against_noise_points="results/figures/swapping_against_noise.csv",
    log:
        logs("attack_swapping"),
    benchmark:
        benchmarks("attack_swapping")
    conda:
        ENVIRONMENT
    params:
        sources=code("swapping"),
        seed=config["seed"],
        rates=SWAPPING["rates"],
        located=SWAPPING["located"],
    message:
        "What an attacker learns from a swapped file"
    script:
        "../scripts/swapping/attack_swapping.py"


rule swap_massachusetts:
    input:
        massachusetts=HERE / "data/swapping/massachusetts_1940.csv",
        households=SWAPPING["households"] or [],
    output:
        massachusetts="results/tables/swapping_massachusetts.csv",
        fit="results/tables/swapping_fit.csv",
        mape="results/tables/swapping_mape.csv",
        printed="results/tables/swapping_printed.csv",
        unmixed="results/tables/swapping_unmixed.csv",
        massachusetts_points="results/figures/swapping_massachusetts.csv",
        rate_points="results/figures/swapping_rate.csv",
        mape_points="results/figures/swapping_mape.csv",
        unmixed_points="results/figures/swapping_unmixed.csv",
    log:
        logs("swap_massachusetts"),
    benchmark:
        benchmarks("swap_massachusetts")
    conda:
        ENVIRONMENT
    params:
        sources=code("swapping"),
        seed=config["seed"],
        rates=SWAPPING["rates"],
        runs=SWAPPING["runs"],
        households=SWAPPING["households"],
    message:
        "Massachusetts in 1940, swapped"
    script:
        "../scripts/swapping/swap_massachusetts.py"


rule plot_swapping:
    input:
        budget="results/figures/swapping_budget.csv",
        tightness="results/figures/swapping_tightness.csv",
        mape="results/figures/swapping_mape.csv",
        massachusetts="results/figures/swapping_massachusetts.csv",
        rate="results/figures/swapping_rate.csv",
        unmixed="results/figures/swapping_unmixed.csv",
        against_noise="results/figures/swapping_against_noise.csv",
        attack="results/figures/swapping_attack.csv",
        flavours="results/figures/swapping_flavours.csv",
        budgets="results/tables/swapping_budgets.csv",
        fit="results/tables/swapping_fit.csv",
        summary="results/tables/swapping_mape.csv",
        printed="results/tables/swapping_printed.csv",
    output:
        budget=in_report("results/figures/swapping_budget.svg"),
        budget_png="results/figures/swapping_budget.png",
        tightness=in_report("results/figures/swapping_tightness.svg"),
        tightness_png="results/figures/swapping_tightness.png",
        mape=in_report("results/figures/swapping_mape.svg"),
        mape_png="results/figures/swapping_mape.png",
        massachusetts=in_report("results/figures/swapping_massachusetts.svg"),
        massachusetts_png="results/figures/swapping_massachusetts.png",
        rate=in_report("results/figures/swapping_rate.svg"),
        rate_png="results/figures/swapping_rate.png",
        unmixed=in_report("results/figures/swapping_unmixed.svg"),
        unmixed_png="results/figures/swapping_unmixed.png",
        against_noise=in_report("results/figures/swapping_against_noise.svg"),
        against_noise_png="results/figures/swapping_against_noise.png",
        attack=in_report("results/figures/swapping_attack.svg"),
        attack_png="results/figures/swapping_attack.png",
        flavours=in_report("results/figures/swapping_flavours.svg"),
        flavours_png="results/figures/swapping_flavours.png",
    log:
        logs("plot_swapping"),
    benchmark:
        benchmarks("plot_swapping")
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("swapping"),
    message:
        "Figures of swapping"
    script:
        "../scripts/swapping/plot_swapping.py"


SWAPPING_TABLES = tables_made_by(
    rules.compute_swapping_loss,
    rules.sample_swapping_permutations,
    rules.compare_swapping_guarantees,
    rules.attack_swapping,
    rules.swap_massachusetts,
)


use rule render_tables as render_swapping_tables with:
    input:
        SWAPPING_TABLES,
    output:
        **rendered(SWAPPING_TABLES),
    log:
        logs("render_swapping_tables"),
    params:
        sources=presentation("swapping", "review"),
        descriptions=DESCRIPTION_FILES,


rule swapping:
    input:
        rules.plot_swapping.output,
        rules.render_swapping_tables.output,
