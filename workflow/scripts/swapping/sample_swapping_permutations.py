"""Compare sampled permutations with their exact distribution."""

from isdp.io.files import write_csv
from isdp.seeds import stream
from reproduction.running.jobs import job_log
from reproduction.swapping.tables import permutation_table

with job_log(snakemake.log[0]):
    rng, _ = stream(snakemake.params.seed, "swapping", "computed").spawn(2)
    write_csv(permutation_table(rng), snakemake.output.law)
