"""Put the states' tables together and draw their convergence."""

from reproduction.running.jobs import job_log
from isdp.io.files import read_json, write_csv
from isdp.plots.style import save
from reproduction.counties.experiment import speed_table
from reproduction.counties.figures import convergence_strips
from reproduction.running.tables import read_csvs, write_table

with job_log(snakemake.log[0]):
    params, output = snakemake.params, snakemake.output
    rhat = read_csvs(snakemake.input.rhat)
    states = read_csvs(snakemake.input.state)
    noise = read_csvs(snakemake.input.noise)
    write_table(rhat, output.rhat_csv, "Convergence of the noise of every county")
    write_table(noise, output.noise_csv, "Noise of every county")
    write_table(states, output.states_csv, "County noise: the states at a glance")
    projection = read_csvs(snakemake.input.projection)
    write_table(projection, output.projection_csv, "Projected discrete Laplace: spread and overlap")
    write_csv(speed_table(states, map(read_json, snakemake.input.speed)), output.speed)
    write_csv(rhat, output.strips)
    figure = convergence_strips(
        rhat, f"Convergence of {params.chains} chains of {params.draws} kept draws, all counties"
    )
    save(figure, output.svg, output.png)
