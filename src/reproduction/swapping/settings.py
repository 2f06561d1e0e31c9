"""The block `swapping` of the configuration."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from reproduction.jobs.settings import (
    BOTH,
    OURS,
    PAPER,
    Block,
    ConfigError,
    Different,
    Pair,
    PathText,
    Probability,
    TwoDifferent,
    Whole,
    check_file,
    setting,
)

Strata = Different[Annotated[int, Field(ge=2, le=10**12)]]
Totals = Annotated[list[Whole], Field(min_length=2)]


class SwappingSettings(Block):
    """Permutation swapping."""

    households: PathText | None = setting(
        "A CSV file of the real households of Massachusetts in 1940 (county, size, tenure, count), "
        "or `null` for synthetic households only.",
        OURS,
    )
    rates: TwoDifferent[Probability] = setting(
        "The swap rates of the simulated swaps and of the attacks, in increasing order. The first "
        "rate and the last rate are the paper's.",
        BOTH,
    )
    runs: int = setting(
        "The number of simulated swaps for each rate and scenario of households.", PAPER, ge=2
    )
    sizes: Strata = setting(
        "The sizes of the largest stratum, in records, in the table of bounds and exact losses.",
        BOTH,
    )
    drawn: Strata = setting(
        "The sizes of the largest stratum in the figure of the budget and the table of profiles.",
        BOTH,
    )
    delta: Probability = setting("The delta of the table of profiles.", PAPER)
    universes: list[Totals] = setting(
        "Lists of county totals whose privacy loss is computed. The loss is exact if the product "
        "of (n_k + 1) over the totals n_k is at most 3000.",
        OURS,
    )
    tables: list[Pair[Totals]] = setting(
        "The margins of small tables whose exact loss is computed. Each entry has the county "
        "totals and the category totals.",
        OURS,
    )
    located: int = setting(
        "The number of simulated swaps for each rate that are compared with the exact probability "
        "of a household's county.",
        OURS,
        ge=2,
    )

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError if rates decrease, margins have different sums or a file is missing."""
        if self.rates != sorted(self.rates):
            raise ConfigError(
                f"config: swapping.rates: must be in increasing order, got {self.rates}"
            )
        for number, (counties, categories) in enumerate(self.tables):
            if sum(counties) != sum(categories):
                raise ConfigError(
                    f"config: swapping.tables.{number}: both lists must have the same sum, got "
                    f"{sum(counties)} for the counties and {sum(categories)} for the categories"
                )
        check_file("swapping.households", self.households)
