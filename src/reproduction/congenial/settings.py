"""The block `congenial` of the configuration."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from isdp.errors import InputError
from isdp.lattice.elimination import solve_for
from reproduction.data.table_p12 import build_table, sex_by_age_invariants
from reproduction.jobs.settings import (
    OURS,
    PAPER,
    READ_OFF,
    Block,
    Chains,
    ConfigError,
    Different,
    Pair,
    PathText,
    Positive,
    Probability,
    Whole,
    check_file,
    setting,
)

KEY = "congenial.sex_by_age"


class Sexes(Block):
    """Counts by sex and age group."""

    female: list = setting("The counts of the 23 age groups of women.", PAPER)
    male: list = setting("The counts of the 23 age groups of men.", PAPER)


class Independence(Block):
    """The independence sampler."""

    chains: Chains = setting("The number of chains, from 2 to 100.", OURS)
    draws: int = setting("The number of draws kept from each chain.", OURS, ge=10)
    burn_in: int = setting("The number of steps discarded at the start.", OURS, ge=0)
    thin: Whole = setting("The number of steps between kept draws.", OURS)


class Walk(Independence):
    """The lattice walk."""

    proposal: Probability = setting("The parameter a of the distribution of jump lengths.", OURS)


class TraceInPaper(Block):
    """The chain of the paper."""

    acceptance_percent: float = setting("The acceptance rate, in %.", READ_OFF, default=None)
    longest_stay: float = setting("The longest stay, in steps.", READ_OFF, default=None)
    ess: float = setting("The effective sample size.", READ_OFF, default=None)


class Trace(Block):
    """Chains of the independence sampler."""

    steps: int = setting("The number of proposals of each chain.", PAPER, ge=20)
    chains: int = setting("The number of chains. The figure shows the first chain.", OURS, ge=2)
    paper: TraceInPaper = setting("The numbers of the chain in the paper.")


class AcceptanceRates(Block):
    """The acceptance rate."""

    proposal_epsilons: Annotated[
        Different[Annotated[float, Field(gt=0, le=20)]], Field(min_length=4)
    ] = setting("The epsilons of the proposal.", PAPER)
    paper: list[float | None] = setting(
        "The paper's rates for these epsilons, in %. `null` is an unknown rate.", READ_OFF
    )
    chains: Chains = setting("The number of independent chains for each epsilon and start.", OURS)
    iterations: int = setting("The number of proposals of each chain.", OURS, ge=100)


class Medians(Block):
    """Medians of one method."""

    l1: float = setting("The median l1 distance.", READ_OFF)
    l2: float = setting("The median l2 distance.", READ_OFF)


class MediansInPaper(Block):
    """Medians of the paper."""

    raw: Medians = setting("Independent noise.", default=None)
    projected: Medians = setting("Independent noise, then projection.", default=None)
    conditional: Medians = setting("The congenial mechanism.", default=None)
    raw_half: Medians = setting("Independent noise at half the epsilon.", default=None)


class Distances(Block):
    """Distances of releases from their tables."""

    tables: int = setting(
        "The number of simulated confidential tables. With a file, the table of the county is "
        "used this number of times.",
        OURS,
        ge=2,
    )
    paper_tables: int = setting(
        "The number of tables over which the paper takes its medians.", PAPER, ge=2
    )
    releases: int = setting("The number of releases of each table by each method.", PAPER, ge=2)
    successes: Positive = setting(
        "The number of successes of the negative binomial distribution of each cell.", PAPER
    )
    failure: Probability = setting("The probability of failure of that distribution.", PAPER)
    raw_epsilon: Positive = setting("The epsilon of the noise that is projected.", PAPER)
    walk: Walk = setting("The lattice walk that draws the conditional releases.")
    unmixed: Different[Whole] = setting(
        "The numbers of proposals of the short chains whose releases are compared with those of "
        "converged chains.",
        OURS,
    )
    paper: MediansInPaper = setting("The paper's medians, by method.")


class SexByAge(Block):
    """The table of sex by age."""

    file: PathText | None = setting(
        "A CSV file with Table P12 (columns H76001 to H76049, and `name`, `gisjoin` or `fips`), or "
        "`null` to use `counts`."
    )
    county: PathText | None = setting("The name or code of the county in that file.")
    counts: Sexes = setting("The confidential table, with 23 age groups of each sex.")
    printed: Sexes | None = setting(
        "A release to compare with ours, or `null`. It is not used with a file."
    )
    epsilon: Positive = setting("The epsilon of the unconstrained mechanism, per cell.", PAPER)
    proposal_epsilon: Positive = setting(
        "The epsilon of the proposal of the independence sampler.", PAPER
    )
    solved: Different[Annotated[int, Field(ge=1, le=46)]] | None = setting(
        "The cells that the independence sampler computes from the equalities. Cells are counted "
        "from 1, women first. `null` lets the program choose them.",
        PAPER,
    )
    walk: Walk = setting("The lattice walk. Its steps are sweeps.")
    independence: Independence = setting("The independence sampler. Its steps are proposals.")
    trace: Trace = setting("Chains of the independence sampler from the confidential table.")
    acceptance: AcceptanceRates = setting("The acceptance rate of the independence sampler.")
    distances: Distances = setting("The distances of releases from their tables.")


class TwoBin(Block):
    """The histogram of two bins."""

    counts: Pair[Annotated[int, Field(ge=0)]] = setting("The two counts of the histogram.", OURS)
    epsilon: Positive = setting("The epsilon of the unconstrained mechanism.", OURS)
    betas: Different[Annotated[float, Field(ge=0, le=1)]] = setting(
        "The weights of the l1 projection, from 0 to 1.", OURS
    )
    draws: int = setting("The number of simulated releases of each mechanism.", OURS, ge=100)


class CongenialSettings(Block):
    """The congenial mechanism."""

    sex_by_age: SexByAge = setting("Sex by age under constraints (CDP, Section 3).")
    two_bin: TwoBin = setting("A histogram of two bins (CDP, Example 4.1).")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError unless tables, file, cells and rates are consistent."""
        entry = self.sex_by_age
        for key in ("counts", "printed"):
            table = getattr(entry, key)
            try:
                if table is not None:
                    build_table(dict(table))
            except InputError as error:
                raise ConfigError(f"config: {KEY}.{key}: {error}") from None
        if (entry.file is None) != (entry.county is None):
            raise ConfigError(
                f"config: {KEY}: file and county must be given together. Set both or neither."
            )
        check_file(f"{KEY}.file", entry.file)
        if entry.solved is not None:
            try:
                solve_for(sex_by_age_invariants(), [0, 0, 0], [cell - 1 for cell in entry.solved])
            except InputError as error:
                raise ConfigError(f"config: {KEY}.solved (cells from 0 here): {error}") from None
        rates, epsilons = entry.acceptance.paper, entry.acceptance.proposal_epsilons
        if len(rates) != len(epsilons):
            raise ConfigError(
                f"config: {KEY}.acceptance.paper: must have one number or null for each of the "
                f"{len(epsilons)} proposal_epsilons, got {len(rates)}"
            )
