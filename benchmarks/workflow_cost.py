"""Time and memory of the whole workflow, rule by rule, from the files that Snakemake leaves."""

import re
from pathlib import Path

import pandas as pd


def rule_names(root):
    """Return the names of all rules and checkpoints of the workflow in `root`."""
    root = Path(root)
    files = [root / "workflow" / "Snakefile", *sorted((root / "workflow" / "rules").glob("*.smk"))]
    text = "\n".join(file.read_text() for file in files)
    return re.findall(r"^(?:rule|checkpoint|use rule \w+ as) (\w+)", text, flags=re.MULTILINE)


def rule_of(job, rules):
    """Find the rule whose name, and wildcards after it, make up a job's name."""
    fitting = [rule for rule in rules if job == rule or job.startswith(f"{rule}_")]
    return max(fitting, key=len, default=job)


def cost_table(folder, rules):
    """Add up Snakemake's benchmark files.

    Parameters
    ----------
    folder : path
        With a file RULE_WILDCARDS.tsv of columns s and max_rss for each job.
    rules : list of str

    Returns
    -------
    DataFrame
        One row a rule, the longest first: rule, jobs, seconds_total, seconds_longest and
        largest_max_rss_mb (nan where jobs ended before Snakemake looked).
    """
    jobs = []
    for file in sorted(Path(folder).glob("*.tsv")):
        last = pd.read_csv(file, sep="\t").iloc[-1]
        numbers = pd.to_numeric(last[["s", "max_rss"]], errors="coerce")
        jobs.append({"rule": rule_of(file.stem, rules), **numbers})
    table = pd.DataFrame(jobs, columns=["rule", "s", "max_rss"]).groupby("rule", as_index=False)
    table = table.agg(
        jobs=("s", "size"),
        seconds_total=("s", "sum"),
        seconds_longest=("s", "max"),
        largest_max_rss_mb=("max_rss", "max"),
    )
    return table.sort_values("seconds_total", ascending=False, ignore_index=True)
