"""Compute the verdicts on the papers' claims and statements from the tables."""

from isdp.io.files import read_json, write_atomically, write_csv, write_json
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_tables
from reproduction.review.claims import find_pages, list_claims
from reproduction.review.claims_file import describe_claims
from reproduction.review.coverage import (
    count_statements,
    judge_coverage,
    read_coverage,
    read_substitutes,
)
from reproduction.review.scorecard import judge_claims, summarise_scorecard

with job_log(snakemake.log[0]):
    source = snakemake.input
    claims = list_claims(source.notebooks)
    card, evidence = judge_claims(
        claims,
        read_tables([*source.tables, source.verified]),
        read_json(source.provenance),
        find_pages(source.notebooks),
    )
    checks = card["claim"].isin([claim.name for claim in claims if claim.transcription])
    write_csv(card[~checks], snakemake.output.card)
    write_csv(card[checks], snakemake.output.checks)
    with write_atomically(snakemake.output.summary) as temporary:
        temporary.write_text(summarise_scorecard(card[~checks]) + "\n")
    coverage = judge_coverage(read_coverage(claims), card.set_index("claim")["verdict"])
    write_csv(coverage, snakemake.output.coverage)
    write_csv(count_statements(coverage), snakemake.output.counts)
    write_csv(read_substitutes(claims), snakemake.output.substitutes)
    write_json(snakemake.output.evidence, describe_claims(claims, card, evidence))
