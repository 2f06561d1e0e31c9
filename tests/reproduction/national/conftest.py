import pytest

from reproduction.data.histogram import read_histogram
from reproduction.data.published import read_published
from reproduction.topdown.experiment import keep_states
from tests import ROOT


@pytest.fixture(scope="session")
def small():
    published = read_published(ROOT / "data/census2010_county_population.csv")
    whole = read_histogram(ROOT / "data/census2010_race_hispanic_adult_county.csv", published)
    return keep_states(whole, ["DE", "RI", "VT"])
