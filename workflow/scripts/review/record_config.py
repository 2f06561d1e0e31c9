"""Store the configuration of a finished run, and the names of the outputs that it shows."""

import yaml

from isdp.io.files import write_atomically
from reproduction.jobs.job_log import job_log
from reproduction.review.shown import list_shown

with job_log(snakemake.log[0]):
    with write_atomically(snakemake.output.config) as temporary:
        temporary.write_text(yaml.safe_dump(snakemake.params.settings, sort_keys=False))
    with write_atomically(snakemake.output.shown) as temporary:
        temporary.write_text("".join(f"{name}\n" for name in list_shown(snakemake.input)))
