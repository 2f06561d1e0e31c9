"""Signs at random: their settings and their mean."""

import numpy as np
import pandas as pd

from reproduction.jobs.settings import OURS, Block, Whole, setting


class ToySettings(Block):
    """Signs at random."""

    draws: Whole = setting("The number of signs.", OURS)


def signs(rng: np.random.Generator, draws: int) -> pd.DataFrame:
    """Draw signs and give their mean; one row, with columns draws and mean."""
    return pd.DataFrame({"draws": [draws], "mean": [rng.choice([-1, 1], draws).mean()]})
