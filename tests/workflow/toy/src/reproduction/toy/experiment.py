"""Signs at random."""

import numpy as np
import pandas as pd


def signs(rng: np.random.Generator, draws: int) -> pd.DataFrame:
    """Draw signs and give their mean; one row, with columns draws and mean."""
    return pd.DataFrame({"draws": [draws], "mean": [rng.choice([-1, 1], draws).mean()]})
