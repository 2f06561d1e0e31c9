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
include: "workflow/rules/exact.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/notebooks.smk"


rule all:
    default_target: True
    input:
        "results/report.html",
        notebook_pages(),


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
}
workflow.localrules(*({rule.name for rule in workflow.rules} - SENT))


onsuccess:
    print(closing_words())
