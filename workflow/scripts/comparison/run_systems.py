"""Release the table by the systems of one family at all budgets, and measure the errors."""

import resource
import sys

from reproduction.comparison.experiment import run_family
from reproduction.comparison.systems import list_systems
from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import write_tables
from reproduction.topdown.experiment import keep_states

with job_log(snakemake.log[0]):
    params, given = snakemake.params, snakemake.input
    histogram = read_histogram(given.histogram, read_published(given.published))
    histogram = keep_states(histogram, params.settings["states"])
    family = list_systems()[snakemake.wildcards.family]
    found = run_family(params.seed, histogram, family, params.settings)
    # ru_maxrss is in KiB on Linux, and in bytes on macOS
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found["cost"]["job_memory"] = memory / (1024**2 if sys.platform == "darwin" else 1024)
    write_tables(found, snakemake.output)
