"""Check the configuration, and define the functions that the rules of all studies use."""

import re
import sys
from pathlib import Path

from checkout import BASE, HERE
from reproduction.config.model import Config, read_config
from reproduction.jobs.descriptions import caption_file, read_descriptions
from reproduction.jobs.settings import ConfigError, find_local_file, read_column
from reproduction.jobs.single_run import claim_folder
from reproduction.jobs.sources import code, presentation
from reproduction.jobs.summary import list_pages_to_open, read_optional_json


def files_of(pattern):
    """List the files of this checkout whose path matches a pattern."""
    return sorted(str(path) for path in HERE.glob(pattern))


try:
    SETTINGS = read_config(config, BASE)  # written to results/config.yaml
except ConfigError as error:
    sys.exit(f"error: {error}")
STUDIES_WITH_RULES = [
    block for block in Config.model_fields if (HERE / f"workflow/rules/{block}.smk").is_file()
]
# paths in the configuration are relative to this checkout
LEDGER, PUBLISHED = (str(HERE / config["data"][key]) for key in ("ledger", "published"))
HISTOGRAM, GROUP_QUARTERS = (
    str(HERE / config["topdown"][key]) for key in ("histogram", "group_quarters")
)
ENVIRONMENT = "../envs/isdp.yaml"  # relative to the folder of the rules
DESCRIPTION_FILES = files_of("src/reproduction/*/descriptions.yaml")
DESCRIPTIONS = read_descriptions(DESCRIPTION_FILES)
CAPTION_FOLDER = Path("results/captions").absolute()  # the report rule writes the files


wildcard_constraints:
    state="[A-Z]{2}",


def any_of(names):
    """Return the regular expression that allows only some values of a wildcard."""
    return "|".join(map(re.escape, names)) or "there-is-none"


def selected_states(wildcards=None):
    return read_column(checkpoints.select_states.get().output.states, "state")


def some_of(settings, *keys):
    return {key: settings[key] for key in keys}


def logs(job):
    return f"results/logs/{job}.log"


def benchmarks(job):
    return f"results/benchmarks/{job}.tsv"


def in_report(path):
    """Mark the HTML page of a table, or the SVG file of a figure, for the report of Snakemake."""
    file = Path(path)
    kind = "figures" if file.suffix == ".svg" else "tables"
    _, study, entry = DESCRIPTIONS.find(kind, file.stem)
    title = DESCRIPTIONS.title_of(kind, file.stem)
    if not entry.in_report:
        return path
    return report(
        path,
        caption=str(CAPTION_FOLDER / kind / caption_file(file.stem)),
        category=study.category,
        subcategory=entry.section,
        # with two labels the report shows a switch, and it fails if an output lacks one of the
        # labels
        labels={"what": f"{title} ({kind.removesuffix('s')})"},
    )


def made_by(folder, *made):
    """List the outputs of some rules in one folder of the results."""
    return [path for rule in made for path in rule.output if path.startswith(f"results/{folder}/")]


def rendered(tables):
    """Return the Markdown and HTML files of CSV tables; the report shows the HTML files."""
    return {
        "markdown": [str(Path(table).with_suffix(".md")) for table in tables],
        "pages": [in_report(str(Path(table).with_suffix(".html"))) for table in tables],
    }


def figure_files(**figures):
    """Return the SVG and PNG files of figures."""
    png = {name: Path(svg).with_suffix(".png").name for name, svg in figures.items()}
    return {
        **{name: in_report(svg) for name, svg in figures.items()},
        **{f"{name}_png": f"results/figures/{file}" for name, file in png.items()},
    }


def states_of(pattern):
    """Return an input function that expands a pattern for all selected states."""
    return lambda wildcards: expand(pattern, **{**wildcards, "state": selected_states()})


# the captions read this key when Snakemake renders the report; no job reads it
config["provenance"] = read_optional_json("results/data/provenance.json")
