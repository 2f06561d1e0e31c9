"""Prose is written in standard terms: each phrase found has a replacement here.

Single words are codespell's: `.github/codespell.txt`.
"""

import ast
import json
import re

from tests import ROOT

READ = [
    "README.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "config/README.md",
    "data",
    "docs",
    "notebooks",
    "paper",
    "results/README.md",
    "src/isdp",
    "src/reproduction",
]
# in the folders of READ; a file of captions has no other text
KINDS = ("*.md", "*.ipynb", "*.py", "descriptions.yaml")
BUILT = ("docs/site/", "docs/reference/")

PER = "row|line|page|panel|picture|figure|file|job|block|script|colour|draw|core|table|log|count"
PHRASES = {
    r"\A(What|How|Whether|Who|Those)\b(?!.*\?)": "the noun: 'The number of draws'",
    r"\bat hand\b": "available",
    r"\bh[au]ngs? on\b": "depends on",
    r"\bso many\b": "n, that number of",
    rf"\b(a|an|one) ({PER}) an? \w+": "one X per Y",
    r"\b(draws|sweeps|cells|steps|seconds|ms) an? (second|region|draw|minute|sweep|cell|run)\b": (
        "draws per second"
    ),
    r"\b(is|are) none of\b": "does not belong to",
    r"\bof one's own\b": "your own",
    r"\bsuch as are\b": "those that are",
    r"\bstands?\b(?!-in| for\b)|\bstood\b|\bstanding\b": "is, appears, is written",
    r"\btells?\b|\btelling\b": "states, reports, shows",
    r"\b(any|some)body\b": "a reader, a person, anyone",
    r"(?<!reader )\bwho knows\b": "a reader who knows",
    r"\blaws?\b": "distribution",
    r"\b(chances?|how often)\b": "probability",
    r"\bwhat (is|are|stands?) held\b": "invariants, held totals",
    r"(?<!degrees of )\bfreedom\b": "free cells, determined cells",
    r"\bsettle[ds]?\b": "determines, determined cells",
    r"\bup to a multiple\b": "modulo m",
    r"\bcoins?\b|\btoss(es)?\b": "Bernoulli draw",
    r"\bhalving\b": "recursive splitting",
    r"\bmirrored\b": "tied cells",
    r"\bpromis(e[ds]?|ing)\b": "privacy guarantee",
    r"\bcurrenc(y|ies)\b": "privacy unit",
    r"\beffective draws\b": "effective sample size",
    r"\bBureau's file\b": "demonstration data (NHGIS)",
    r"\bheld against\b": "compared with",
    r"\bargued\b": "discussed",
    r"\bslips?\b": "error",
    r"\bwish(es)?\b": "request, options",
}


def prose(path):
    """Yield the texts of a file that people read, without code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
        texts = [ast.get_docstring(node) or "" for node in nodes]
    elif path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    elif path.suffix == ".yaml":  # captions, without lists of names, keys and placeholders
        text = re.sub(r"^ *(claims|figures|tables): \[[^]]*\]", "", text, flags=re.MULTILINE)
        texts = [re.sub(r'^ *"?[\w{}]+"?:|\{\w+\}', "", text, flags=re.MULTILINE)]
    else:
        texts = [text]
    for each in texts:
        without = re.sub(r"^```.*?^```$", "", each, flags=re.MULTILINE | re.DOTALL)
        without = re.sub(
            r"`+[^`]+`+|\]\([^)]*\)|^\s*(>>> |[\w, ]+ : ).*$", "", without, flags=re.MULTILINE
        )
        yield " ".join(without.split())


def files():
    """Find the files of READ."""
    named = [ROOT / name for name in READ]
    inside = [path for folder in named for kind in KINDS for path in sorted(folder.rglob(kind))]
    return [
        path
        for path in [path for path in named if path.is_file()] + inside
        if not path.relative_to(ROOT).as_posix().startswith(BUILT)
    ]


def test_prose_is_written_in_standard_terms():
    found = [
        f"{path.relative_to(ROOT)}: ...{text[max(0, hit.start() - 30) : hit.end() + 20]}..., "
        f"write: {replacement}"
        for path in files()
        for text in prose(path)
        for phrase, replacement in PHRASES.items()
        for hit in re.finditer(phrase, text, re.IGNORECASE)
    ]
    assert not found, "\n" + "\n".join(found)
