"""Write the data dictionary and the list of figures from the descriptions of all studies."""

from pathlib import Path

from isdp.io.files import write_atomically, write_csv
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.job_log import job_log

with job_log(snakemake.log[0]):
    descriptions = read_descriptions(snakemake.input.descriptions)
    files = sorted({Path(path).with_suffix(".csv") for path in snakemake.input})
    # not every output has a CSV file
    made = [path for path in files if path.is_file()]
    write_csv(descriptions.dictionary(made), snakemake.output.columns)
    table = descriptions.figures().to_markdown(index=False)
    note = "A name in braces stands for each of its values."
    with write_atomically(snakemake.output.figures) as temporary:
        temporary.write_text(f"# Figures\n\n{note}\n\n{table}\n")
