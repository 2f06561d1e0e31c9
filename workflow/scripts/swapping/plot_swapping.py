"""Draw the figures of swapping."""

from isdp.plots.style import save
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv
from reproduction.swapping import figures
from reproduction.swapping.figures import FAIRNESS

with job_log(snakemake.log[0]):
    output = snakemake.output
    read = {name: read_csv(path) for name, path in snakemake.input.items()}
    budgets, printed = read["budgets"], read["printed"].set_index("table")["mape"]
    massachusetts = int(budgets.query("census == 1940")["largest"].max())
    state = "Massachusetts, 1940"
    drawn = {
        "budget": figures.budget(
            read["budget"][read["budget"]["series"] == "curve"],
            budgets,
            "Privacy budget of permutation swapping by swap rate",
        ),
        "tightness": figures.tightness(
            read["tightness"], massachusetts, "How tight the published bound is"
        ),
        "mape": figures.errors(
            read["mape"],
            read["summary"],
            printed["as printed"],
            f"{state}: error of dwellings by county and ownership",
        ),
        "massachusetts": figures.printed_swap(
            read["massachusetts"], f"{state}: owned dwellings of the printed swap at 50 %"
        ),
        "rate": figures.likely_rate(
            read["rate"], read["fit"], f"{state}: which swap rate explains the printed swap"
        ),
        "unmixed": figures.unmixed(
            read["unmixed"], f"{state}: what a reader can undo who knows the rate"
        ),
        "against_noise": figures.against_noise(
            read["against_noise"],
            f"{state}: swapping against integer noise, one table, the same totals held",
            FAIRNESS,
        ),
        "attack": figures.attack(read["attack"], f"{state}: what an attacker learns"),
        "flavours": figures.flavours(
            read["flavours"], "Building blocks in which two systems' guarantees differ"
        ),
    }
    for name, figure in drawn.items():
        save(figure, output[name], output[f"{name}_png"])
