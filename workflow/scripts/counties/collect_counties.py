"""Put the tables of the states together."""

from isdp.io.files import read_json, write_csv
from reproduction.counties.experiment import speed_table
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs

with job_log(snakemake.log[0]):
    files, output = snakemake.input, snakemake.output
    rhat, states = read_csvs(files.rhat), read_csvs(files.state)
    write_csv(rhat, output.rhat)
    write_csv(read_csvs(files.noise), output.noise)
    write_csv(states, output.states)
    write_csv(read_csvs(files.projection), output.projection)
    write_csv(rhat, output.convergence)
    write_csv(speed_table(states, map(read_json, files.speed)), output.speed)
