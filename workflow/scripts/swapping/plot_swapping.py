"""Plot the figures of swapping."""

from reproduction.jobs.figures import save_figures
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv, read_tables
from reproduction.swapping import figures

with job_log(snakemake.log[0]):
    given = snakemake.input
    points = read_tables(given.points)
    budgets = read_csv(given.budgets)
    massachusetts = int(budgets.query("census == 1940")["largest"].max())
    drawn = {
        "budget": figures.plot_budget(
            points["swapping_budget"].query("series == 'curve'"), budgets
        ),
        "tightness": figures.plot_tightness(points["swapping_tightness"], massachusetts),
        "mape": figures.plot_errors(
            points["swapping_mape"], read_csv(given.summary), read_csv(given.printed)
        ),
        "massachusetts": figures.plot_printed_swap(points["swapping_massachusetts"]),
        "rate": figures.plot_likely_rate(points["swapping_rate"], read_csv(given.fit)),
        "unmixed": figures.plot_unmixed(points["swapping_unmixed"]),
        "against_noise": figures.plot_against_noise(read_csv(given.against_noise)),
        "attack": figures.plot_attack(points["swapping_attack"]),
    }
    save_figures(drawn, snakemake.output)
