"""Records of people for the tests of the command and of its functions."""

import numpy as np
import pandas as pd


def people(count=600, seed=3):
    """State, size, county, tract and tenure of numbered people."""
    rng = np.random.default_rng(seed)
    county = rng.integers(0, 5, count)
    return pd.DataFrame(
        {
            "id": np.arange(count),
            "state": rng.choice(["MA", "NH"], count),
            "size": rng.integers(1, 4, count),
            "county": [f"county {c}" for c in county],
            "tract": county * 10 + rng.integers(0, 3, count),
            "tenure": rng.choice(["own", "rent"], count),
        }
    )
