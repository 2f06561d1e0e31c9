"""What the measured jobs come to, and how long they would take on other machines."""

import pandas as pd

from reproduction.running.jobs import job_log
from reproduction.national.cost import job_table, machine_table, read_jobs
from reproduction.running.tables import write_table

with job_log(snakemake.log[0]):
    given, output, params = snakemake.input, snakemake.output, snakemake.params
    parts = {
        name: read_jobs(given[name]) for name in ("releases", "states", "descents", "collected")
    }
    names = {name: part["job"].tolist() for name, part in parts.items()}
    sent = [*names["releases"], *names["states"], *names["descents"]]
    after = dict.fromkeys(names["descents"], names["states"]) | dict.fromkeys(
        names["collected"], sent
    )
    jobs = pd.concat(parts.values(), ignore_index=True)
    write_table(job_table(jobs), output.jobs_csv, params.titles["jobs"])
    machines = machine_table(jobs, after, sent, params.cost)
    write_table(machines, output.cost_csv, params.titles["cost"])
