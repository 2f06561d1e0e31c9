"""Build the scorecard, data dictionary, Snakemake report, review notebooks and front page."""

from isdp.errors import InputError
from reproduction.review.claims import list_claims, list_outputs, list_paper_figures
from reproduction.review.frontpage import PAGES as PAPER_PAGES
from reproduction.review.shown import list_made_tables

NOTEBOOKS = files_of("notebooks/*.ipynb")
PAGES = {
    "notebooks": NOTEBOOKS,
    "claims": files_of("src/reproduction/*/*claims.py"),
}
try:
    ALL_CLAIMS = list_claims(NOTEBOOKS)
    list_paper_figures(DESCRIPTIONS, ALL_CLAIMS)
    CLAIM_TABLES = list_outputs("tables", ALL_CLAIMS)
    for name in CLAIM_TABLES:
        DESCRIPTIONS.find("tables", name)
except InputError as error:
    sys.exit(f"error: {error}")


# the target `national` is not part of the target `all`
STUDIES = [study for study in DESCRIPTIONS.studies if study not in ("review", "national")]
RESULTS = [getattr(rules, study).input for study in STUDIES]


rule verify_draws:
    input:
        states_of("results/draws/counties_{state}.nc"),
        expand("results/draws/{experiment}_{law}.nc", zip, **EVERY_LAW),
        expand("results/draws/paper_{experiment}_{law}.nc", zip, **EVERY_LAW),
        "results/draws/sex_by_age.nc",
        states_of("results/draws/exact_counties_{state}.nc"),
        expand("results/draws/exact_{experiment}_{law}.nc", zip, **EVERY_LAW),
        "results/draws/exact_sex_by_age.nc",
    output:
        verified="results/tables/draws_verified.csv",
    log:
        logs("verify_draws"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=code(),
    message:
        "Checking the invariants of every draw in exact integers"
    script:
        "../scripts/review/verify_draws.py"


rule scorecard:
    input:
        **PAGES,
        provenance="results/data/provenance.json",
        tables=lambda wildcards: list_made_tables(CLAIM_TABLES, RESULTS, wildcards),
        verified="results/tables/draws_verified.csv",
    output:
        card="results/tables/scorecard.csv",
        checks="results/tables/transcription_checks.csv",
        coverage="results/tables/coverage.csv",
        substitutes="results/tables/substitutes.csv",
        counts="results/tables/coverage_counts.csv",
        summary="results/tables/scorecard.txt",
        evidence="results/evidence.json",
    log:
        logs("scorecard"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("review"),
    message:
        "Computing the verdicts on the papers' claims"
    script:
        "../scripts/review/scorecard.py"


rule list_descriptions:
    input:
        *RESULTS,
        rules.scorecard.output,
        rules.verify_draws.output,
        descriptions=DESCRIPTION_FILES,
        provenance="results/data/provenance.json",
        states="results/tables/states.csv",
    output:
        columns="results/tables/data_dictionary.csv",
        figures="results/figures/README.md",
    log:
        logs("list_descriptions"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("review"),
    script:
        "../scripts/review/list_descriptions.py"


REVIEW = (
    "scorecard",
    "transcription_checks",
    "coverage",
    "coverage_counts",
    "substitutes",
    "draws_verified",
    "data_dictionary",
)
REVIEW_TABLES = [f"results/tables/{name}.csv" for name in REVIEW]


use rule render_tables as render_review_tables with:
    input:
        REVIEW_TABLES,
    output:
        **rendered(REVIEW_TABLES),
    log:
        logs("render_review_tables"),
    params:
        sources=presentation("review"),


rule everything:
    input:
        *RESULTS,
        rules.render_review_tables.output,


rule record_config:
    input:
        rules.everything.input,
    output:
        config="results/config.yaml",
        shown="results/shown.txt",
    log:
        logs("record_config"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("review"),
        settings=SETTINGS,
    message:
        "Storing the configuration of this run in results/config.yaml"
    script:
        "../scripts/review/record_config.py"


rule write_claims:
    input:
        evidence=rules.scorecard.output.evidence,
        provenance="results/data/provenance.json",
        config=rules.record_config.output.config,
        schema=str(HERE / "workflow/schemas/claims.schema.json"),
    output:
        claims="results/claims.json",
    log:
        logs("write_claims"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("review"),
    message:
        "Writing the claims with their evidence to results/claims.json"
    script:
        "../scripts/review/write_claims.py"


rule build_report:
    input:
        rules.everything.input,
        config="results/config.yaml",
        shown="results/shown.txt",
        provenance="results/data/provenance.json",
        descriptions=DESCRIPTION_FILES,
        overview=str(HERE / "workflow/report/workflow.rst"),
        stylesheet=str(HERE / "workflow/report/report.css"),
    output:
        report="results/report.html",
    log:
        logs("build_report"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("review"),
        snakefile=str(HERE / "workflow/Snakefile"),
        captions="results/captions",
    message:
        "Building the report results/report.html"
    script:
        "../scripts/review/build_report.py"


rule execute_notebook:
    input:
        rules.everything.input,
        notebook=str(HERE / "notebooks/{page}.ipynb"),
        # the overview reads the titles of the other notebooks
        others=lambda wildcards: NOTEBOOKS if wildcards.page == "00_overview" else [],
        config="results/config.yaml",
        shown="results/shown.txt",
    output:
        page="results/notebooks/{page}.html",
    log:
        logs("notebook_{page}"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("review"),
    message:
        "Executing the review notebook {wildcards.page}"
    script:
        "../scripts/review/execute_notebook.py"


rule build_front_page:
    input:
        rules.everything.input,
        rules.write_claims.output,
        **PAGES,
        states="results/tables/states.csv",
        provenance="results/data/provenance.json",
        config="results/config.yaml",
        usual=str(HERE / "config/config.yaml"),
        descriptions=DESCRIPTION_FILES,
    output:
        page="results/index.html",
        papers=expand("results/papers/{paper}.html", paper=PAPER_PAGES),
    log:
        logs("build_front_page"),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        sources=presentation("review"),
    message:
        "Building the front page results/index.html and the pages of the papers"
    script:
        "../scripts/review/build_front_page.py"
