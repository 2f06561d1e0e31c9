"""Rules that make the tables of claims."""

import pytest

from reproduction.jobs.rules import find_rule
from tests.reproduction.review.test_claims import CLAIMS


@pytest.mark.parametrize(
    ("table", "rule"),
    [
        ("draws_verified", "verify_draws"),
        ("scorecard", "scorecard"),
        ("das_regressions", "select_states"),
        ("intersecting_noise_summary", "describe_lattice"),
        ("contingency_printed", "place_printed"),
        ("sex_by_age_printed", "sample_sex_by_age"),
        ("topdown_noise", "compute_topdown_noise"),
        ("subspace_failing", "compute_subspace_guarantees"),
        ("nothing", ""),
    ],
)
def test_the_rule_is_the_one_whose_outputs_include_the_table(table, rule):
    assert find_rule(table) == rule


def test_every_table_of_a_claim_has_a_rule():
    assert [name for claim in CLAIMS for name in claim.tables if not find_rule(name)] == []
