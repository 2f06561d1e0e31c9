"""What the command line makes of its options, and of a run that is interrupted."""

from fractions import Fraction

import pytest

from isdp import InputError
from isdp.cli import main
from isdp.cli.entry import parser
from isdp.cli.options import DELTA, request


def asked_for(*options):
    given = parser().parse_args(["privatize", "t.csv", "--invariants", "i.yaml", *options])
    return request(vars(given))


@pytest.mark.parametrize("options", [("--sigma", "5/2"), ("--rho", "2/25")])
def test_the_noise_has_the_scale_asked_for(options):
    """Of a rho that is not 1/2, for which many a wrong formula gives the same scale."""
    asked = asked_for(*options)
    assert asked.mechanism.sigma == 2.5
    assert asked.rho == Fraction(2, 25)


def test_delta_lies_between_0_and_1():
    assert asked_for("--rho", "1", "--delta", "1e-6").delta == 1e-6
    assert asked_for("--rho", "1").delta == DELTA
    for wrong in ("0", "1", "-1", "nan", "few"):
        with pytest.raises(InputError, match=f"delta must be .*, got '{wrong}'"):
            asked_for("--rho", "1", f"--delta={wrong}")


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("plan --cells c.csv", "--invariants"),
        ("plan --invariants i.yaml", "--cells"),
        ("compare --cells c.csv", "--invariants"),
        ("compare --invariants i.yaml", "--cells"),
        ("privatize t.csv", "--invariants"),
        ("topdown t.csv --epsilon 1", "--levels"),
        ("topdown t.csv --levels state", "--epsilon"),
        ("swap r.csv --swap county", "--rate"),
        ("swap r.csv --rate 0.1", "--swap"),
        ("check n.csv", "--invariants"),
    ],
)
def test_a_missing_option_is_named(capsys, command, missing):
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert ended.value.code == 2
    assert missing in capsys.readouterr().err.splitlines()[-1]


def test_an_interrupted_command_says_so_and_ends_as_shells_expect(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("isdp.privatize.check.check", interrupted)
    assert main(["check", "n.csv", "--invariants", "i.yaml"]) == 130
    assert capsys.readouterr().err == "isdp: interrupted\n"
