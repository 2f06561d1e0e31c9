"""The scorecard, Snakemake's report of everything, the reviewing notebooks, and the front page.

What is judged and shown follows from config/claims/WING.yaml and config/figures/WING.yaml.
"""

from isdp.errors import InputError
from reproduction.review.claims import read_claims, read_figures
from reproduction.review.columns import check_measures, read_columns

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
    if workflow.is_main_process:
        check_measures(ALL_CLAIMS, read_columns((SCHEMAS / "tables").glob("*.yaml")))
except InputError as error:
    sys.exit(f"error: {error}")


include: "functions/review.smk"


rule verify_draws:
    input:
        draws=gathered(DRAWS),
    output:
        **table_outputs("draws_verified", "Invariants of every draw", "Scorecard"),
    log:
        logs("verify_draws"),
    benchmark:
        benchmarks("verify_draws")
    conda:
        ENVIRONMENT
    params:
        library=library("review/verify_draws"),
    message:
        "Invariants of every draw in results/, checked again in exact integers"
    script:
        "../scripts/review/verify_draws.py"


rule scorecard:
    input:
        **PAGES,
        provenance=rules.fetch_demonstration_data.output.provenance,
        tables=scored_tables,
    output:
        **table_outputs("scorecard", "The papers' claims, and what this run found", "Scorecard"),
        summary="results/tables/scorecard.txt",
    log:
        logs("scorecard"),
    benchmark:
        benchmarks("scorecard")
    conda:
        ENVIRONMENT
    params:
        library=library("review/scorecard"),
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


rule record_config:
    input:
        rules.everything.input,
    output:
        config="results/config.yaml",
        shown="results/shown.txt",
    log:
        logs("record_config"),
    conda:
        ENVIRONMENT
    params:
        library=library("review/record_config"),
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
        stylesheet=str(HERE / "workflow/report/report.css"),
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
        shown=rules.record_config.output.shown,
    output:
        pages=[f"results/notebooks/{Path(path).stem}.html" for path in NOTEBOOKS],
    log:
        logs("execute_notebooks"),
    benchmark:
        benchmarks("execute_notebooks")
    conda:
        ENVIRONMENT
    params:
        library=library("review/execute_notebooks"),
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
        pictures=str(HERE / "config/pictures.yaml"),
        template=str(HERE / "workflow/report/index.html.j2"),
    output:
        page="results/index.html",
    log:
        logs("build_front_page"),
    conda:
        ENVIRONMENT
    params:
        library=library("review/build_front_page"),
        made=made_by_rules,
    message:
        "Front page: results/index.html"
    script:
        "../scripts/review/build_front_page.py"
