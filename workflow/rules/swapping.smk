"""Permutation swapping (SWAP): its budget, the swap of Massachusetts in 1940, what it tells."""

SWAPPING = config["swapping"]
SWAPPING_DATA = HERE / "data/swapping"
# each table's title, by which name it is results/tables/swapping_NAME
SWAPPING_TABLES = {
    "budgets": "The sixteen printed budgets, computed anew",
    "remarks": "The slides' three remarks on the budget",
    "law": "Permutations drawn against their exact law",
    "exact_loss": "The published bound and the exact worst case",
    "universe_loss": "Loss within given county totals",
    "table_loss": "Exact loss if one small table is all that is released",
    "table_bounds": "Lower bounds of the same loss where a county or category is rare",
    "profile": "Epsilon where a small delta is allowed",
    "variants": "Exact losses without the redraw, and of a plain permutation",
    "flavours": "Building blocks of each system's guarantee",
    "flavours_cited": "Flavours that the slides cite",
    "flavours_compared": "Which guarantees may be compared",
    "topdown_budget": "Budgets of the 2020 systems, by three conversions",
    "necessity": "No finite budget without equal invariants",
    "redundant": "Margins without one of their sums",
    "perverse_guide": "Three ways to a smaller epsilon without more noise",
    "errata": "Where the slides' words or numbers cannot all stand",
    "attack": "Where a uniquely described household lives",
    "attack_state": "The same, over the whole state",
    "attack_sizes": "Gain of the most exposed exchange with household sizes told apart",
    "advantages": "Telling two datasets apart by the released table",
    "against_noise": "Swapping and integer noise at equal error",
    "equal_epsilon": "Error of integer noise by epsilon",
    "noise_by_size": "Error of integer noise with totals of each household size held",
    "massachusetts": "The printed swap of Massachusetts, county by county",
    "fit": "How well each mix of households explains the printed swap",
    "mape": "Error of simulated swaps by rate",
    "printed": "Error of the printed swap, as it is and unmixed",
    "unmixed": "The printed swap undone",
}
SWAPPING_FIGURES = {
    "budget": "Budget by swap rate",
    "tightness": "How tight the bound is",
    "massachusetts": "The printed swap, county by county",
    "rate": "The likely swap rate",
    "mape": "Error by swap rate",
    "unmixed": "What a reader can undo",
    "against_noise": "Swapping against integer noise",
    "attack": "What an attacker learns",
    "flavours": "What differs between two guarantees",
}


include: "functions/swapping.smk"


rule derive_swapping:
    input:
        budgets=SWAPPING_DATA / "budgets.csv",
        massachusetts=SWAPPING_DATA / "massachusetts_1940.csv",
        households=SWAPPING["households"] or [],
    output:
        **swapping_tables(SWAPPING_TABLES),
        **swapping_data(*SWAPPING_FIGURES),
    log:
        logs("derive_swapping"),
    benchmark:
        benchmarks("derive_swapping")
    conda:
        ENVIRONMENT
    params:
        library=library("swapping/derive_swapping"),
        seed=config["seed"],
        settings=SWAPPING,
        titles=SWAPPING_TABLES,
    message:
        "Budgets, losses, flavours and attacks of swapping; Massachusetts in 1940, swapped"
    script:
        "../scripts/swapping/derive_swapping.py"


rule plot_swapping:
    input:
        budget=rules.derive_swapping.output.budget_figure,
        tightness=rules.derive_swapping.output.tightness_figure,
        attack=rules.derive_swapping.output.attack_figure,
        against_noise=rules.derive_swapping.output.against_noise_figure,
        flavours=rules.derive_swapping.output.flavours_figure,
        budgets=rules.derive_swapping.output.budgets_csv,
        mape=rules.derive_swapping.output.mape_figure,
        massachusetts=rules.derive_swapping.output.massachusetts_figure,
        unmixed=rules.derive_swapping.output.unmixed_figure,
        rate=rules.derive_swapping.output.rate_figure,
        fit=rules.derive_swapping.output.fit_csv,
        summary=rules.derive_swapping.output.mape_csv,
        printed=rules.derive_swapping.output.printed_csv,
    output:
        **{
            key: path
            for each, title in SWAPPING_FIGURES.items()
            for key, path in figure_outputs(
                f"swapping_{each}",
                title,
                "Swapping",
                key=f"{each}_",
                caption=f"swapping_{each}_figure",
            ).items()
        },
    log:
        logs("plot_swapping"),
    benchmark:
        benchmarks("plot_swapping")
    conda:
        ENVIRONMENT
    params:
        library=library("swapping/plot_swapping"),
    message:
        "Figures of swapping"
    script:
        "../scripts/swapping/plot_swapping.py"


GOALS.append(rules.plot_swapping.output.budget_svg)
SENT.add("derive_swapping")
