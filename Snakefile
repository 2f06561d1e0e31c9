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
include: "workflow/rules/frontpage.smk"


rule all:
    default_target: True
    input:
        rules.build_front_page.output,
        "results/report.html",
        rules.execute_notebooks.output,


onsuccess:
    print(closing_words())
