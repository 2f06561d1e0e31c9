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
        "A csv of the real households of Massachusetts in 1940 (county, size, tenure, count), or "
        "`null` for synthetic ones alone.",
        OURS,
    )
    rates: TwoDifferent[Probability] = setting(
        "The swap rates, in increasing order, of the simulated swaps and of what an attacker "
        "learns. The first and the last are the paper's.",
        BOTH,
    )
    runs: int = setting(
        "The number of simulated swaps for each rate and mix of households.", PAPER, ge=2
    )
    sizes: Strata = setting(
        "The numbers of records of the largest stratum for which bound and exact loss are "
        "tabulated.",
        BOTH,
    )
    drawn: Strata = setting(
        "The same for the figure of the budget and the table of profiles.", BOTH
    )
    delta: Probability = setting("The delta that the table of profiles allows.", PAPER)
    universes: list[Totals] = setting(
        "Lists of county totals whose privacy loss is computed, exactly over all pairs of "
        "datasets where these are few.",
        OURS,
    )
    tables: list[Pair[Totals]] = setting(
        "The margins of small tables whose exact loss is computed: the county totals, then the "
        "category totals.",
        OURS,
    )
    located: int = setting(
        "The number of simulated swaps for each rate, for comparison with the exact probability "
        "of a household's county.",
        OURS,
        ge=2,
    )

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError unless rates increase, margins fit each other and the file exists."""
        if self.rates != sorted(self.rates):
            raise ConfigError(
                f"config: swapping.rates: must be in increasing order, got {self.rates}"
            )
        for place, (counties, categories) in enumerate(self.tables):
            if sum(counties) != sum(categories):
                raise ConfigError(
                    f"config: swapping.tables.{place}: both lists must have the same sum, got "
                    f"{sum(counties)} for the counties and {sum(categories)} for the categories"
                )
        check_file("swapping.households", self.households)
