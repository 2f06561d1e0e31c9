"""The block `toy` of the configuration."""

from reproduction.jobs.settings import OURS, Block, Whole, setting


class ToySettings(Block):
    """Signs at random."""

    draws: Whole = setting("The number of signs.", OURS)
