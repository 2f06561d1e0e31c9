"""Integer Subspace Differential Privacy and its neighbours: every experiment from one command."""

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/counties.smk"
include: "workflow/rules/lattices.smk"
include: "workflow/rules/projection.smk"
include: "workflow/rules/congenial.smk"
include: "workflow/rules/exactness.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/notebooks.smk"
include: "workflow/rules/sweep.smk"
include: "workflow/rules/frontpage.smk"


rule all:
    default_target: True
    input:
        rules.build_front_page.output,
        "results/report.html",
        rules.execute_notebooks.output,


# Sent to a cluster, where there is one (docs/cluster.md). The other rules take seconds, less than it
# takes to send them, and stay on the machine that Snakemake runs on.
SENT = {
    "sample_counties",
    "project_counties",
    "draw_exact_counties",
    "compare_exact_counties",
    "couple_chains",
    "sample_lattice",
    "draw_exact_lattice",
    "sample_sex_by_age",
    "measure_acceptance",
    "compare_distances",
    "sample_scenario",
}
NAMES = {rule.name for rule in workflow.rules}
if not SENT <= NAMES:
    sys.exit(f"error: Snakefile: SENT names rules that do not exist: {', '.join(SENT - NAMES)}")
workflow.localrules(*(NAMES - SENT))


onsuccess:
    print(closing_words())


onerror:
    print("\n".join(sweep_words()))
