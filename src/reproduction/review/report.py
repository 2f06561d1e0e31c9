"""Snakemake's command, as `python -m` runs it, for its report in half the time.

Snakemake 9.27 ends each caption with a link target for every file of the report, in case the
caption names one, and reads all of them again for each caption. Ours name none: one that did would
have the report refused, for docutils says that the target is unknown.
"""

import snakemake.report
from docutils.core import publish_parts
from snakemake.cli import main

TARGETS = "\n.. _Workflow: javascript:"


def without_targets(source: str, **options) -> dict:
    """Set a text, but for the targets at its end; see `docutils.core.publish_parts`."""
    return publish_parts(source.partition(TARGETS)[0], **options)


if __name__ == "__main__":
    snakemake.report.publish_parts = without_targets
    main()
