"""Follow the actual distance of each variant's chain from its target, under every law."""

from isdp.io.files import write_csv
from reproduction.exactness.experiment import follow_laws
from reproduction.lattices.entry import build, walk_of
from reproduction.running.draws import read_by
from reproduction.running.jobs import job_log
from reproduction.running.tables import read_csvs

with job_log(snakemake.log[0]):
    params, files = snakemake.params, snakemake.input
    experiment = build(params.entry)
    walks = {
        (law, variant): walk_of(experiment, entry, params.variants, variant)
        for law, entry in params.laws.items()
        for variant in params.variants
    }
    exact, curves = read_by("law", files.exact), read_csvs(files.curves)
    name, following = snakemake.wildcards.experiment, params.following
    followed = follow_laws(params.seed, name, walks, exact, curves, following)
    write_csv(followed, snakemake.output.distances)
