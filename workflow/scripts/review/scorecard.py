"""Judge the papers' claims by the tables."""

from pathlib import Path

from isdp.io.files import read_json, whole
from reproduction.review.scorecard import read_claims, scorecard, summary
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csv, write_table

with job_log(snakemake.log[0]):
    card = scorecard(
        read_claims(snakemake.input.claims, snakemake.input.schema),
        {Path(path).stem: read_csv(path) for path in snakemake.input.tables},
        read_json(snakemake.input.provenance),
    )
    write_table(card, snakemake.output.csv, "Scorecard: the papers' claims against this run")
    with whole(snakemake.output.summary) as temporary:
        temporary.write_text(summary(card) + "\n")
