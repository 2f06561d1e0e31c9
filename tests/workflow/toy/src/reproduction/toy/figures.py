"""The figure of the mean sign."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from isdp.plots.style import styled


@styled
def mean_sign(table: pd.DataFrame) -> Figure:
    """Show the mean sign against the number of draws."""
    figure, axis = plt.subplots()
    axis.plot(table["draws"], table["mean"], "o")
    return figure
