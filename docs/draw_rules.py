"""Draw the rules of the workflow: `make rulegraph` writes docs/rulegraph.svg.

Arrows that follow from others are left out. Each file in workflow/rules/ has its own colour.
"""

import re
import shutil
import subprocess
import sys
from itertools import cycle
from pathlib import Path

BASE = Path(__file__).parents[1]
COLOURS = ("#cfe3f5", "#d5ecd4", "#f5d3d6", "#e2d8f0", "#f9e3c8", "#d3efec", "#ead9c5", "#dfe3b4")
SHARED = {"data": "#e3e3e3", "review": "#fbf3b9"}  # studies take the other colours in turn
PLAIN = "#ffffff"
Edges = set[tuple[str, str]]


def rule_graph() -> tuple[set[str], Edges]:
    """Ask Snakemake for the rules and their dependencies."""
    command = [sys.executable, "-m", "snakemake", "--rulegraph", "dot", "--quiet"]
    command += ["--snakefile", "workflow/Snakefile"]
    done = subprocess.run(command, cwd=BASE, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    names = dict(re.findall(r'^\s*(\d+)\[label = "([^"]+)"', done.stdout, re.MULTILINE))
    arrows = re.findall(r"^\s*(\d+) -> (\d+)", done.stdout, re.MULTILINE)
    return set(names.values()), {(names[a], names[b]) for a, b in arrows if a != b}


def without_implied(edges: Edges) -> Edges:
    """Remove each arrow whose ends are also connected by a longer path."""
    after: dict[str, set[str]] = {}
    for a, b in edges:
        after.setdefault(a, set()).add(b)

    def reach(start: str, seen: set[str]) -> set[str]:
        for following in after.get(start, set()) - seen:
            seen.add(following)
            reach(following, seen)
        return seen

    beyond = {
        a: set().union(*(reach(b, set()) for b in following)) for a, following in after.items()
    }
    return {(a, b) for a, b in edges if b not in beyond[a]}


def file_of_rules() -> dict[str, str]:
    """Name the rules file of each rule."""
    start = re.compile(r"^(?:rule|checkpoint|use rule \w+ as) ?(\w+)", re.MULTILINE)
    paths = (BASE / "workflow/rules").glob("*.smk")
    return {rule: path.stem for path in paths for rule in start.findall(path.read_text())}


def colours_of(files: dict[str, str]) -> dict[str, str]:
    """Give each file of rules a colour, which changes only if a study is added."""
    studies = sorted(set(files.values()) - set(SHARED))
    return SHARED | dict(zip(studies, cycle(COLOURS), strict=False))


def dot(rules: set[str], edges: Edges, files: dict[str, str]) -> str:
    """Write the graph in the language of Graphviz, in a fixed order."""
    lines = [
        "digraph rules {",
        'graph [ranksep=0.35, nodesep=0.12, margin=0.05, bgcolor="white"];',
        'node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11, '
        'height=0.3, margin="0.08,0.03", color="#888888"];',
        'edge [color="#777777", arrowsize=0.6];',
    ]
    colours = colours_of(files)
    for rule in sorted(rules):
        colour = colours.get(files.get(rule, ""), PLAIN)
        lines.append(f'"{rule}" [label="{rule.replace("_", " ")}", fillcolor="{colour}"];')
    lines += [f'"{a}" -> "{b}";' for a, b in sorted(edges)]
    return "\n".join([*lines, "}\n"])


def main(path: Path) -> None:
    """Draw the rules."""
    if not shutil.which("dot"):
        sys.exit("error: Graphviz is needed to draw the rules (its program dot)")
    rules, edges = rule_graph()
    text = dot(rules, without_implied(edges), file_of_rules())
    done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True)
    svg = re.sub(r"<!--.*?-->\n?", "", done.stdout, flags=re.DOTALL)
    path.write_text(svg)
    print(f"{path}: {len(rules)} rules")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
