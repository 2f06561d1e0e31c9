"""Write the data dictionary and the list of figures from the descriptions of all studies."""

from pathlib import Path

from isdp.io.files import read_json, write_atomically, write_csv
from reproduction.data.differences import note_states, note_vintage
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.job_log import job_log
from reproduction.jobs.tables import read_csv

with job_log(snakemake.log[0]):
    descriptions = read_descriptions(snakemake.input.descriptions)
    files = sorted({Path(path).with_suffix(".csv") for path in snakemake.input})
    # some outputs have no CSV file
    made = [path for path in files if path.is_file()]
    write_csv(descriptions.dictionary(made), snakemake.output.columns)
    table = descriptions.figures().to_markdown(index=False)
    intro = "A name in braces is replaced by each of its values, such as the states."
    vintage = read_json(snakemake.input.provenance)["vintage"]
    rule = read_csv(snakemake.input.states)["rule"].iloc[0]
    notes = filter(None, (note_vintage(vintage), note_states(rule)))
    listed = "".join(f"- {note}\n" for note in notes)
    with write_atomically(snakemake.output.figures) as temporary:
        temporary.write_text(f"# Figures\n\n{intro}\n\n{listed}\n{table}\n")
