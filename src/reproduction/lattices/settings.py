"""The block `lattices` of the configuration, and functions with which the rules read it."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Discriminator, Field, Tag

from isdp.errors import InputError
from reproduction.jobs.settings import (
    BOTH,
    OURS,
    PAPER,
    Acceptance,
    Basis,
    Block,
    Chains,
    ConfigError,
    Different,
    Name,
    Norm,
    Positive,
    Probability,
    Whole,
    requirement,
    setting,
)
from reproduction.lattices.entry import build_experiment


def _entries(key: str, having: type[Block], lacking: type[Block]) -> Any:
    """Build the type of a dictionary whose entries have either of two types.

    An entry with the key `key` has the type `having`, and any other entry has the type `lacking`.
    """

    def tag(given: Any) -> str:
        return "(having)" if isinstance(given, dict) and key in given else "(lacking)"

    either = Annotated[lacking, Tag("(lacking)")] | Annotated[having, Tag("(having)")]
    return Annotated[dict[Name, Annotated[either, Discriminator(tag)]], Field(min_length=1)]


class Laplace(Block):
    """A generalized Laplace distribution, and the proposals of the walks that sample it."""

    placeholder: ClassVar[str] = "LAW"
    epsilon: Positive = setting("The privacy loss per unit of the norm.", OURS)
    norm: Norm = setting("The norm of the generalized Laplace mechanism: `l1` or `l2`.", PAPER)
    proposal: dict[str, Probability] = setting(
        "The parameter a, between 0 and 1, of the jump lengths for each variant of the walk.", OURS
    )


class Gaussian(Block):
    """A generalized Gaussian distribution, and the proposals of the walks that sample it."""

    placeholder: ClassVar[str] = "LAW"
    sigma: Positive = setting(
        "The scale of the generalized Gaussian mechanism, which has no epsilon and no norm.", OURS
    )
    proposal: dict[str, Probability] = setting(
        "The parameter a, between 0 and 1, of the jump lengths for each variant of the walk.", OURS
    )


Laws = _entries("sigma", Gaussian, Laplace)
Members = Annotated[dict[str, Annotated[list[int], Field(min_length=1)]], Field(min_length=1)]
LAWS_DESCRIPTION = "The distributions by name. An entry that is `null` is omitted."


class Table(Block):
    """A contingency table with fixed margins."""

    placeholder: ClassVar[str] = "NAME"
    axes: Annotated[dict[str, Different[str | int]], Field(min_length=1)] = setting(
        "The axes of the table, each with the list of its categories.", BOTH
    )
    held: Annotated[list[list[str]], Field(min_length=1)] = setting(
        "The fixed margins. Each is the list of its axes, and `[]` is the grand total.", BOTH
    )
    counts: list = setting(
        "The confidential counts as nested lists in the shape of the table (optional).",
        PAPER,
        default=None,
    )
    printed: dict[str, list] = setting(
        "The tables of noise that the paper prints, by distribution (optional).",
        PAPER,
        default=None,
    )
    laws: Laws = setting(LAWS_DESCRIPTION)


class Records(Block):
    """Records under constraints."""

    placeholder: ClassVar[str] = "NAME"
    records: Whole = setting("The number of records. Such an entry has no `axes`.", PAPER)
    constraints: Members = setting(
        "The constraints by name, each with the list of its records, counted from 1.", OURS
    )
    laws: Laws = setting(LAWS_DESCRIPTION)


Entries = _entries("records", Records, Table)


class Variant(Block):
    """A variant of the walk."""

    placeholder: ClassVar[str] = "VARIANT"
    basis: Basis = setting("The basis of the jumps, as in `counties.basis`.", BOTH)
    acceptance: Acceptance = setting("The acceptance of jumps, as in `counties.acceptance`.", BOTH)


class Coupling(Block):
    """The coupled chains, which bound the distance to the target distribution."""

    runs: int = setting("The number of independent pairs of chains for each bound.", PAPER, ge=2)
    pilot_runs: int = setting(
        "The number of pairs of chains for each lag in the search.", OURS, ge=2
    )
    near_one: float = setting(
        "The limit of the bound at time 0: the lag is doubled until the bound is at most this "
        "number.",
        OURS,
        gt=1,
    )
    lag_factors: Annotated[
        Different[Positive], requirement("a list that contains 1", lambda factors: 1 in factors)
    ] = setting("The lags as multiples of the chosen lag. The list must contain 1.", OURS)
    cap: int = setting(
        "The number of iterations after which a pair of chains that has not met is censored.",
        OURS,
        ge=10,
    )


class Noise(Block):
    """The draws of noise."""

    variant: str = setting("The name of the variant of the walk that draws the noise.", OURS)
    chains: Chains = setting("The number of independent chains, from 2 to 100.", OURS)
    draws: int = setting(
        "The number of draws kept from each chain. The paper shows 1000 draws in total.",
        BOTH,
        ge=10,
    )


class LatticesSettings(Block):
    """Experiments on integer lattices."""

    experiments: Entries = setting(
        "The experiments by name. Your own entry gives the same figures and tables under its name. "
        "An entry that is `null` is omitted."
    )
    variants: dict[Name, Variant] = setting(
        "The variants of the walk by name. One name must be `paper`."
    )
    coupling: Coupling = setting(
        "The coupled chains, which bound the distance to the target distribution."
    )
    noise: Noise = setting("The draws of noise.")

    def check(self, config: Any, base: Path) -> None:
        """Raise ConfigError if an experiment is not valid or a variant is unknown."""
        variants, listed = sorted(self.variants), ", ".join(sorted(self.variants))
        if "paper" not in variants:
            raise ConfigError(f"config: lattices.variants: paper is missing from {listed}. Add it.")
        for name, entry in self.experiments.items():
            _check_experiment(f"lattices.experiments.{name}", entry, variants)
        if self.noise.variant not in variants:
            raise ConfigError(
                f"config: lattices.noise.variant: {self.noise.variant!r} is unknown. "
                f"Choose from {listed}."
            )


def _check_experiment(key: str, entry: Table | Records, variants: Collection[str]) -> None:
    try:
        build_experiment(dict(entry))
    except InputError as error:
        raise ConfigError(f"config: {key}: {error}") from None
    for law, settings in entry.laws.items():
        if set(settings.proposal) != set(variants):
            raise ConfigError(
                f"config: {key}.laws.{law}.proposal: got {', '.join(settings.proposal) or 'none'}. "
                f"Give one number for each of {', '.join(variants)}."
            )
    for law, table in (getattr(entry, "printed", None) or {}).items():
        if law not in entry.laws:
            raise ConfigError(
                f"config: {key}.printed.{law}: this distribution is unknown. Choose from "
                f"{', '.join(entry.laws)}."
            )
        shape = np.asarray(table, dtype=object).shape
        wanted = tuple(map(len, entry.axes.values()))
        if shape != wanted:
            raise ConfigError(
                f"config: {key}.printed.{law}: the shape is {shape}. Give a table in the shape of "
                f"the axes, {wanted}."
            )


class Experiments(dict):
    """Entries of the lattice experiments by name."""

    def having(self, key: str) -> list[str]:
        """List the names of the experiments whose entry has a key."""
        return [name for name, entry in self.items() if key in entry]

    def pairs(self, key: str = "laws") -> dict[str, list[str]]:
        """List the values of the wildcards of all pairs of experiment and distribution."""
        found = [(name, law) for name, entry in self.items() for law in entry.get(key, [])]
        return {"experiment": [name for name, _ in found], "law": [law for _, law in found]}

    def lattice_of(self, wildcards) -> dict:
        """Return an experiment without its distributions."""
        # a change of one distribution must not rerun the jobs of other distributions
        entry = self[wildcards.experiment]
        return {key: value for key, value in entry.items() if key not in ("laws", "printed")}
