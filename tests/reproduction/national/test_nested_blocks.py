import pytest

from reproduction.national.nested_blocks import LEVELS, draw_block_noise
from reproduction.national.synthetic_blocks import allocate_blocks, draw_state
from reproduction.nested.systems import published_rho


def test_the_regions_are_those_of_topdown_and_the_errors_those_of_the_closed_form(small):
    counties, blocks = small.counties, 40_000
    found = draw_block_noise(2, small, blocks).set_index("level")
    numbers, regions = allocate_blocks(counties["population"], blocks), dict.fromkeys(LEVELS, 0)
    for state, rows in counties.groupby("state").indices.items():
        names = counties["fips"].to_numpy()[rows].tolist()
        _, hierarchy = draw_state(1, state, (names, small.counts[rows]), numbers[rows])
        for level in LEVELS:
            regions[level] += len(hierarchy.units[hierarchy.number(level)])
    assert found["regions"].to_dict() == regions
    # a mean of n squares has a relative standard error of (2 / n)^0.5, and its root half of that
    reach = 5 * (2 * found["regions"]) ** -0.5
    assert (abs(found["rmse_total"] / found["expected"] - 1) < reach).all()
    assert found["share"].sum() == pytest.approx(1)
    assert found["loss"].astype(float).to_numpy() == pytest.approx(float(published_rho()), rel=1e-5)
