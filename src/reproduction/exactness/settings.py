"""The block `exactness` of the configuration."""

from reproduction.jobs.settings import OURS, Block, Whole, setting


class ExactnessSettings(Block):
    """Settings of the exact draws and of the chains that are compared with them."""

    draws: int = setting(
        "The number of exact draws of each lattice experiment and distribution. For the counties, "
        "the number is that of the chains' draws.",
        OURS,
        ge=20,
    )
    chains: int = setting(
        "The number of independent chains for the measurement of the distance from the exact "
        "distribution.",
        OURS,
        ge=20,
    )
    county_chains: int = setting(
        "The number of independent chains of each state for this measurement.", OURS, ge=20
    )
    points: int = setting("The number of times at which the distance is measured.", OURS, ge=2)
    longest: Whole = setting("The last iteration at which the distance is measured.", OURS)
