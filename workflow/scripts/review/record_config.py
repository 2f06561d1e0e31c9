"""Keep the config of a finished run beside its results."""

import yaml

from isdp.io.files import whole
from reproduction.running.jobs import job_log

with job_log(snakemake.log[0]), whole(snakemake.output.config) as temporary:
    temporary.write_text(yaml.safe_dump(snakemake.params.settings, sort_keys=False))
