"""Which tables and figures claims and front page name, and how they are made."""

from functools import cache
from types import SimpleNamespace

from snakemake.output_index import OutputIndex

from reproduction.review.claims import named_figures, named_tables

NAMED = [("tables", "html", name) for name in named_tables(ALL_CLAIMS, ALL_FIGURES)]
NAMED += [("figures", "svg", name) for name in named_figures(ALL_CLAIMS, ALL_FIGURES)]


@cache
def producers():
    """All rules by what they make, once all are known."""
    return OutputIndex(workflow.rules)


@cache
def maker_of(path):
    """The rule that makes a file with this config, and its wildcards; None where there is none."""
    for each in producers().match_producers(path):
        wildcards = each.get_wildcards(path)
        lattice = LATTICES.get(wildcards.get("experiment"))
        absent = lattice and wildcards.get("law", "") not in ["", *lattice["laws"]]
        return None if absent else (each, wildcards)
    return None


@cache
def state_in(path):
    """The state that a file is of, "" if it is of none; it need not be a state of this run."""
    maker = maker_of(path)
    return maker[1].get("state", "") if maker else ""


def files_of(kind, ending, name):
    """Files that this config makes under a name: none, or one, or one a state."""
    path = f"results/{kind}/{name}.{ending}"
    if "{state}" in name:
        return [own for own in expand(path, state=selected_states()) if maker_of(own)]
    state = state_in(path)
    return [path] if maker_of(path) and (not state or state in selected_states()) else []


@cache
def waits_for_states(kind, ending, name):
    return "{state}" in name or state_in(f"results/{kind}/{name}.{ending}") != ""


def scored_tables(wildcards):
    """Tables that the claims measure, those of them that this config makes."""
    names = named_tables(ALL_CLAIMS)
    return [path for name in names for path in files_of("tables", "csv", name)]


def shown_at_once(wildcards):
    """What claims and front page show, but for what can be named only once the states are chosen."""
    return [path for key in NAMED if not waits_for_states(*key) for path in files_of(*key)]


def shown_of_states(wildcards):
    return [path for key in NAMED if waits_for_states(*key) for path in files_of(*key)]


def made_by_rules(wildcards):
    """For the front page: under each name its files, and how they are made."""
    made = {"tables": {}, "figures": {}}
    for kind, ending, name in NAMED:
        made[kind][name] = [job_of(path) for path in files_of(kind, ending, name)]
    return made


def job_of(path):
    """The rule that makes a file, and the job's words and log."""
    maker, wildcards = maker_of(path)
    rules_file = Path(os.path.relpath(maker.snakefile, BASE))
    return {
        "name": Path(path).stem,
        "rule": maker.name,
        "message": maker.message.format(wildcards=SimpleNamespace(**wildcards)),
        "rules": rules_file.as_posix(),
        "script": os.path.normpath(rules_file.parent / maker.script),
        "log": os.path.relpath(maker.log[0].apply_wildcards(wildcards), "results"),
    }
