"""Integer Subspace Differential Privacy and its neighbours: every experiment from one command."""

import atexit
import gc

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/counties.smk"
include: "workflow/rules/lattices.smk"
include: "workflow/rules/congenial.smk"
include: "workflow/rules/exactness.smk"
include: "workflow/rules/subspace.smk"
include: "workflow/rules/topdown.smk"
include: "workflow/rules/swapping.smk"
include: "workflow/rules/comparison.smk"
include: "workflow/rules/national.smk"
include: "workflow/rules/running.smk"
include: "workflow/rules/review.smk"


# All that Snakemake and the rules have loaded stays. Going through it again and again for what could
# be thrown away, and once more at the end, took a quarter of each start.
gc.freeze()
atexit.register(gc.freeze)


rule all:
    default_target: True
    input:
        rules.build_front_page.output,
        rules.build_report.output,
        rules.execute_notebooks.output,


# rules take seconds, less than it takes to send them, but for those that each file counts as SENT
workflow.localrules(*({rule.name for rule in workflow.rules} - SENT))


onstart:
    # Snakemake 9.27 limits how many jobs start in a second. For every job that has ended it goes
    # through all inputs once a second more; on this machine there is nothing to limit.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    print(ending())


onerror:
    print(ending_of_failure())
