"""Random damage to each file that a command reads: it is refused in one line, or it is read.

An example that once failed belongs to `test_hostile_inputs.py`, as a test of its own.
"""

import json
import shlex
import shutil
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from isdp.cli import main
from tests import ROOT

EXAMPLES = 15  # per file on every run; raise it to look for further damage
# distinctive primes, which no message may contain
COUNTS = (104729, 15485863, 1299709, 49979687)
TABLE = "county,sex,count\n" + "".join(
    f"{place},{count}\n"
    for place, count in zip(("North,f", "North,m", "South,f", "South,m"), COUNTS, strict=True)
)
RULES = "totals: [county]\nsubsets:\n  women: {sex: f}\n"
CODES = "parent,child\nA,North\nA,South\n"
PRIVATIZE = "privatize table.csv --invariants rules.yaml --epsilon 1 --no-picture --out out"
CHECK = "check noisy/noisy.csv --invariants rules.yaml --certificate noisy/certificate.json"
COMMANDS = {
    "table.csv": PRIVATIZE,
    "rules.yaml": PRIVATIZE,
    "codes.csv": f"{PRIVATIZE} --hierarchy county=codes.csv",
    "records.csv": "swap records.csv --swap county --rate 0.5 --out out",
    "levels.csv": "topdown levels.csv --levels county --rho 1 --simulations 0 --out out",
    "certificate.json": CHECK,
    "noisy.csv": CHECK,
}
TOKENS = [
    *('"', "'", ",", ";", "\t", "\n", "\r", "\r\n", "\0", "\ufeff", "\u0661", "\x1b[31m", "\ud7ff"),
    *("-", "+", ".", "e", "nan", "inf", "None", "null", "true", "1e400", "0x10", "1_000", "  "),
    *("9" * 40, "9" * 5_000, "count", "county", "=1+1", "#", "%", "é", "e\u0301"),
    *(":", "[", "]", "{", "}", "&a", "*a", "!!python/object:os", "<<", "|", ">", "---", "? "),
]
TEXTS = st.sampled_from(TOKENS) | st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXTS | st.sampled_from(["county", "sex"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def damaged(draw, text):
    """The bytes of a text after one to four replacements of slices; at times not UTF-8."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 3, 20])))
        text = text[:start] + draw(TEXTS) + text[end:]
    data = text.encode("utf-8", "surrogatepass")
    return data + draw(st.sampled_from([b"", b"", b"", b"\xff\xfe", b"\n"]))


@st.composite
def replaced(draw, document):
    """A JSON document of which one value, at any depth, is another or is missing."""
    document = json.loads(json.dumps(document))
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
            place = place[key]
            continue
        if draw(st.booleans()):
            del place[key]
        else:
            place[key] = draw(VALUES)
        return json.dumps(document).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Valid files, and a release of them."""
    folder = tmp_path_factory.mktemp("valid")
    (folder / "rules.yaml").write_text(RULES)
    (folder / "codes.csv").write_text(CODES)
    for name in ("table.csv", "levels.csv"):
        (folder / name).write_text(TABLE)
    shutil.copy(ROOT / "docs/example/people.csv", folder / "records.csv")
    status, said = run(folder, COMMANDS["table.csv"].replace("--out out", "--out noisy"))
    assert status == 0, said
    return folder


def run(folder, command):
    printed = StringIO()
    with chdir(folder), redirect_stdout(printed), redirect_stderr(printed):
        status = main(shlex.split(command))
    return status, printed.getvalue()


def check_command(folder, name, data):
    """Run the command that reads a file in a copy of the folder, with other bytes in the file."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "work"
        shutil.copytree(folder, copy)
        (path,) = copy.rglob(name)
        path.write_bytes(data)
        status, said = run(copy, COMMANDS[name])
        assert status in (0, 1, 2)
        if status == 2:
            assert said.startswith("isdp: ")
            assert said.count("\n") == 1
            assert not (copy / "out").exists()
        assert said.replace("\n", "").isprintable()
        assert [count for count in COUNTS if str(count) in said] == []


@pytest.mark.parametrize("name", ["table.csv", "rules.yaml", "codes.csv", "levels.csv"])
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_damaged_file_of_text(folder, name, data):
    text = (folder / name).read_text()
    check_command(folder, name, data.draw(damaged(text)))


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_damaged_records(folder, data):
    check_command(folder, "records.csv", data.draw(damaged((folder / "records.csv").read_text())))


@settings(max_examples=EXAMPLES)
@given(value=st.dictionaries(st.sampled_from(["total", "totals", "subsets"]), VALUES))
def test_invariants_of_any_structure(folder, value):
    check_command(folder, "rules.yaml", yaml.safe_dump(value).encode())


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_certificate_with_one_other_value(folder, data):
    document = json.loads((folder / "noisy/certificate.json").read_text())
    check_command(folder, "certificate.json", data.draw(replaced(document)))


@pytest.mark.parametrize("name", ["certificate.json", "noisy.csv"])
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_damaged_release(folder, name, data):
    check_command(folder, name, data.draw(damaged((folder / "noisy" / name).read_text())))
