"""Rules of the workflow, as they are written in `workflow/rules`."""

import re
from pathlib import Path

RULES = Path(__file__).parents[3] / "workflow/rules"
# a rule begins at the margin; its sections are indented by four spaces, and their contents by eight
HEAD = r"^(?:rule|checkpoint|use rule \w+ as) (\w+)(?: with)?:\n"
RULE = re.compile(HEAD + r"((?: .*\n|\n)+)", re.MULTILINE)
OUTPUT = re.compile(r"^    output:\n((?: {8}.*\n)+)", re.MULTILINE)
TABLE = re.compile(r'"results/tables/(.+)\.csv"')


def find_rule(table: str) -> str:
    """Return the name of the rule that makes a table, or an empty string if no rule does."""
    found = []
    for path in sorted(RULES.glob("*.smk")):
        for rule, body in RULE.findall(path.read_text()):
            for output in OUTPUT.findall(body):
                found += [(pattern, rule) for pattern in TABLE.findall(output)]
    # a name without a wildcard takes precedence
    for pattern, rule in sorted(found, key=lambda pair: "{" in pair[0]):
        if re.fullmatch(re.sub(r"\\{\w+\\}", ".+", re.escape(pattern)), table):
            return rule
    return ""
