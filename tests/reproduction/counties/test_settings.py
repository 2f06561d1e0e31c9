"""What the schema cannot tell of the counties' settings and of a sweep."""

import copy

import pytest

from reproduction.counties.settings import check
from reproduction.running.config import ConfigError
from reproduction.running.yaml_files import read_yaml
from tests import ROOT

CONFIG = read_yaml(ROOT / "config/config.yaml")
SWEEP = read_yaml(ROOT / "config/sweep.yaml")["sweep"]


def checked(sweep=None, **counties):
    config = copy.deepcopy(CONFIG)
    config["counties"] |= counties
    if sweep is not None:
        config["sweep"] = SWEEP | sweep
    check(config["counties"], config, ROOT)


def test_the_projects_own_settings_and_sweep_pass():
    checked()
    checked({})
    checked({"files": [str(ROOT / "README.md")]})
    checked(states=["IL", "VT"], stand_in_states=["DC"])


@pytest.mark.parametrize(
    ("counties", "words"),
    [
        ({"states": ["IL", "ZZ"]}, r"counties\.states\.1: there is no state 'ZZ'"),
        ({"stand_in_states": ["ZZ"]}, r"counties\.stand_in_states\.0: there is no state 'ZZ'"),
        (
            {
                "overdispersed": CONFIG["counties"]["overdispersed"] | {"epsilon": 0.5},
                "epsilon": 0.5,
            },
            r"overdispersed\.epsilon: must be below counties\.epsilon \(0\.5\)",
        ),
    ],
)
def test_settings_that_do_not_fit_each_other_are_refused(counties, words):
    with pytest.raises(ConfigError, match=words):
        checked(**counties)


@pytest.mark.parametrize(
    ("sweep", "words"),
    [
        ({"states": ["IL", "ZZ"]}, r"sweep\.states\.1: there is no state 'ZZ'"),
        ({"states": [["IL"], ["ZZ"]]}, r"sweep\.states\.1\.0: there is no state 'ZZ'"),
        ({"vintages": ["20201116", "19991231"]}, r"sweep\.vintages\.1"),
        (
            {"files": [str(ROOT / "README.md"), "none.zip"]},
            r"sweep\.files\.1: there is no file none",
        ),
    ],
)
def test_a_sweep_over_what_is_not_there_is_refused(sweep, words):
    with pytest.raises(ConfigError, match=words):
        checked(sweep)
