"""Draw the figures of swapping."""

from pathlib import Path

from isdp.plots.style import save
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv
from reproduction.swapping import figures

with job_log(snakemake.log[0]):
    given = snakemake.input
    points = {Path(path).stem: read_csv(path) for path in given.points}
    budgets = read_csv(given.budgets)
    massachusetts = int(budgets.query("census == 1940")["largest"].max())
    drawn = {
        "swapping_budget": figures.budget(
            points["swapping_budget"].query("series == 'curve'"), budgets
        ),
        "swapping_tightness": figures.tightness(points["swapping_tightness"], massachusetts),
        "swapping_mape": figures.errors(
            points["swapping_mape"], read_csv(given.summary), read_csv(given.printed)
        ),
        "swapping_massachusetts": figures.printed_swap(points["swapping_massachusetts"]),
        "swapping_rate": figures.likely_rate(points["swapping_rate"], read_csv(given.fit)),
        "swapping_unmixed": figures.unmixed(points["swapping_unmixed"]),
        "swapping_against_noise": figures.against_noise(points["swapping_against_noise"]),
        "swapping_attack": figures.attack(points["swapping_attack"]),
        "swapping_flavours": figures.flavours(points["swapping_flavours"]),
    }
    for path in snakemake.output.svg:
        save(drawn[Path(path).stem], path, Path(path).with_suffix(".png"))
