"""The block `exactness` of the configuration."""

from reproduction.jobs.settings import OURS, Block, Whole, setting


class ExactnessSettings(Block):
    """Settings of the exact draws and of the chains that are compared with them."""

    draws: int = setting(
        "The number of exact draws of each lattice experiment and distribution. The counties take "
        "as many as their chains.",
        OURS,
        ge=20,
    )
    chains: int = setting(
        "The number of independent chains whose actual distance from the exact distribution is "
        "measured.",
        OURS,
        ge=20,
    )
    county_chains: int = setting("The same number for each state.", OURS, ge=20)
    points: int = setting("The number of times at which the distance is measured.", OURS, ge=2)
    longest: Whole = setting("The last iteration at which it is measured.", OURS)
