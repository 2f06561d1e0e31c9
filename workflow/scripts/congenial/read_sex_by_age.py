"""Take the confidential table from the config or from a county's Table P12."""

import pandas as pd

from isdp.io.files import write_csv
from reproduction.data.table_p12 import CELLS, read_p12, table_of
from reproduction.running.jobs import job_log

with job_log(snakemake.log[0]) as log:
    params = snakemake.params
    if snakemake.input.get("file"):
        counts, name = read_p12(snakemake.input.file, params.county)
        log.info("Table P12 of %s from %s", name, snakemake.input.file)
    else:
        counts = table_of(params.counts)
    write_csv(pd.DataFrame({"cell": CELLS, "count": counts}), snakemake.output.counts)
