"""The scorecard, Snakemake's report of everything, the reviewing notebooks, and the front page.

What is judged and shown follows from config/claims/WING.yaml and config/figures/WING.yaml.
"""

from functools import cache
from types import SimpleNamespace

from isdp.errors import InputError
from reproduction.review.claims import named_figures, named_tables, read_claims, read_figures

NOTEBOOKS = sorted(str(path) for path in (HERE / "notebooks").glob("*.ipynb"))
SCHEMAS = HERE / "workflow/schemas"
CLAIMS, FIGURES = (
    sorted(str(path) for path in (HERE / "config" / kind).glob("*.yaml"))
    for kind in ("claims", "figures")
)
PAGES = {
    "notebooks": NOTEBOOKS,
    "claims": CLAIMS,
    "claims_schema": str(SCHEMAS / "claims.schema.yaml"),
    "figures": FIGURES,
    "figures_schema": str(SCHEMAS / "figures.schema.yaml"),
}
try:
    ALL_CLAIMS = read_claims(CLAIMS, PAGES["claims_schema"], NOTEBOOKS)
    ALL_FIGURES = read_figures(FIGURES, PAGES["figures_schema"], ALL_CLAIMS)
except InputError as error:
    sys.exit(f"error: {error}")


# -- what is named, and which rule makes it -------------------------------------------------------


NAMED = [("tables", "html", name) for name in named_tables(ALL_CLAIMS, ALL_FIGURES)]
NAMED += [("figures", "svg", name) for name in named_figures(ALL_CLAIMS, ALL_FIGURES)]


@cache
def maker_of(path):
    """The rule that makes a file with this config, and its wildcards; None where there is none."""
    for rule in workflow.rules:
        if rule.is_producer(path):
            wildcards = rule.get_wildcards(path)
            law = wildcards.get("law")
            if law and law not in LATTICES[wildcards["experiment"]]["laws"]:
                return None
            return rule, wildcards
    return None


def state_in(path):
    """The state that a file is of, "" if it is of none; it need not be a state of this run."""
    maker = maker_of(path)
    return maker[1].get("state", "") if maker else ""


def files_of(kind, ending, name):
    """Files that this config makes under a name: none, or one, or one a state."""
    path = f"results/{kind}/{name}.{ending}"
    if "{state}" in name:
        return [each for each in expand(path, state=selected_states()) if maker_of(each)]
    state = state_in(path)
    return [path] if maker_of(path) and (not state or state in selected_states()) else []


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


# -- rules ----------------------------------------------------------------------------------------


rule verify_draws:
    input:
        draws=gathered(DRAWS),
        library=library("review/verify_draws"),
    output:
        **table_outputs("draws_verified", "Invariants of every draw", "Scorecard"),
    log:
        logs("verify_draws"),
    benchmark:
        benchmarks("verify_draws")
    conda:
        ENVIRONMENT
    message:
        "Invariants of every draw in results/, checked again in exact integers"
    script:
        "../scripts/review/verify_draws.py"


rule scorecard:
    input:
        **PAGES,
        provenance=rules.fetch_demonstration_data.output.provenance,
        tables=scored_tables,
        library=library("review/scorecard"),
    output:
        **table_outputs("scorecard", "The papers' claims, and what this run found", "Scorecard"),
        summary="results/tables/scorecard.txt",
    log:
        logs("scorecard"),
    benchmark:
        benchmarks("scorecard")
    conda:
        ENVIRONMENT
    message:
        "Verdicts on the papers' claims"
    script:
        "../scripts/review/scorecard.py"


rule everything:
    input:
        rules.scorecard.output.csv,
        shown_at_once,
        shown_of_states,
        gathered(GOALS),
        gathered(GOALS_OF_STATES),


rule record_config:
    input:
        rules.everything.input,
        library=library("review/record_config"),
    output:
        config="results/config.yaml",
    log:
        logs("record_config"),
    conda:
        ENVIRONMENT
    params:
        settings=SETTINGS,
    message:
        "The config that made all this: results/config.yaml"
    script:
        "../scripts/review/record_config.py"


rule build_report:
    input:
        rules.everything.input,
        config=rules.record_config.output.config,
        # captions, labels and categories live here
        wording=sorted(str(path) for path in (HERE / "workflow/report").rglob("*.rst")),
    output:
        report="results/report.html",
    log:
        logs("build_report"),
    benchmark:
        benchmarks("build_report")
    conda:
        ENVIRONMENT
    params:
        snakefile=str(HERE / "Snakefile"),
    message:
        "Report: results/report.html"
    script:
        "../scripts/review/build_report.py"


rule execute_notebooks:
    input:
        rules.everything.input,
        notebooks=NOTEBOOKS,
        config=rules.record_config.output.config,
        library=library("review/execute_notebooks"),
    output:
        pages=[f"results/notebooks/{Path(path).stem}.html" for path in NOTEBOOKS],
    log:
        logs("execute_notebooks"),
    benchmark:
        benchmarks("execute_notebooks")
    conda:
        ENVIRONMENT
    params:
        at_once=2,  # kernels, which mostly wait to start
        settings=SETTINGS,
    message:
        "Reviewing notebooks"
    script:
        "../scripts/review/execute_notebooks.py"


rule build_front_page:
    input:
        rules.everything.input,
        **PAGES,
        states=rules.select_states.output.states,
        config=rules.record_config.output.config,
        usual=str(HERE / "config/config.yaml"),
        template=str(HERE / "workflow/report/index.html.j2"),
        library=library("review/build_front_page"),
    output:
        page="results/index.html",
    log:
        logs("build_front_page"),
    conda:
        ENVIRONMENT
    params:
        made=made_by_rules,
    message:
        "Front page: results/index.html"
    script:
        "../scripts/review/build_front_page.py"
