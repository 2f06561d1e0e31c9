"""Run the study of permutation swapping: privacy loss, Massachusetts in 1940, attacks (SWAP).

SWAP is *Can Swapping be Differentially Private?* (slides).
"""

SWAPPING = config["swapping"]


rule compute_swapping_loss:
    input:
        budgets=HERE / "data/swapping/budgets.csv",
        massachusetts=HERE / "data/swapping/massachusetts_1940.csv",
        households=SWAPPING["households"] or [],
    output:
        budgets="results/tables/swapping_budgets.csv",
        remarks="results/tables/swapping_remarks.csv",
        law="results/tables/swapping_law.csv",
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
        tables="tabulate_losses",
        sources=code("swapping"),
        settings=SWAPPING,
        seed=config["seed"],
    script:
        "../scripts/swapping/compute_swapping.py"


use rule compute_swapping_loss as compare_swapping_guarantees with:
    output:
        flavours="results/tables/swapping_flavours.csv",
        flavours_cited="results/tables/swapping_flavours_cited.csv",
        flavours_compared="results/tables/swapping_flavours_compared.csv",
        topdown_budget="results/tables/swapping_topdown_budget.csv",
        necessity="results/tables/swapping_necessity.csv",
        redundant="results/tables/swapping_redundant.csv",
        perverse_guide="results/tables/swapping_perverse_guide.csv",
        errata="results/tables/swapping_errata.csv",
        statements="results/tables/swapping_statements.csv",
    log:
        logs("compare_swapping_guarantees"),
    benchmark:
        benchmarks("compare_swapping_guarantees")
    params:
        tables="tabulate_guarantees",


use rule compute_swapping_loss as attack_swapping with:
    output:
        attack="results/tables/swapping_attack.csv",
        attack_state="results/tables/swapping_attack_state.csv",
        attack_sizes="results/tables/swapping_attack_sizes.csv",
        advantages="results/tables/swapping_advantages.csv",
        against_noise="results/tables/swapping_against_noise.csv",
        equal_epsilon="results/tables/swapping_equal_epsilon.csv",
        noise_by_size="results/tables/swapping_noise_by_size.csv",
        attack_points="results/figures/swapping_attack.csv",
    log:
        logs("attack_swapping"),
    benchmark:
        benchmarks("attack_swapping")
    params:
        tables="tabulate_attacks",


use rule compute_swapping_loss as swap_massachusetts with:
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
    params:
        tables="tabulate_massachusetts",


SWAPPING_RULES = (
    rules.compute_swapping_loss,
    rules.compare_swapping_guarantees,
    rules.attack_swapping,
    rules.swap_massachusetts,
)
SWAPPING_TABLES = made_by("tables", *SWAPPING_RULES)


rule plot_swapping:
    input:
        points=made_by("figures", *SWAPPING_RULES),
        budgets="results/tables/swapping_budgets.csv",
        fit="results/tables/swapping_fit.csv",
        summary="results/tables/swapping_mape.csv",
        printed="results/tables/swapping_printed.csv",
        against_noise="results/tables/swapping_against_noise.csv",
    output:
        **figure_files(
            budget="results/figures/swapping_budget.svg",
            tightness="results/figures/swapping_tightness.svg",
            attack="results/figures/swapping_attack.svg",
            against_noise="results/figures/swapping_against_noise.svg",
            massachusetts="results/figures/swapping_massachusetts.svg",
            rate="results/figures/swapping_rate.svg",
            mape="results/figures/swapping_mape.svg",
            unmixed="results/figures/swapping_unmixed.svg",
        ),
    log:
        logs("plot_swapping"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("swapping"),
    script:
        "../scripts/swapping/plot_swapping.py"


use rule render_tables as render_swapping_tables with:
    input:
        SWAPPING_TABLES,
    output:
        **rendered(SWAPPING_TABLES),
    log:
        logs("render_swapping_tables"),
    params:
        sources=presentation("swapping", "review"),


rule swapping:
    input:
        rules.plot_swapping.output,
        rules.render_swapping_tables.output,
