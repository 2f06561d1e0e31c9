"""The request for noise, which has one privacy budget and the options for experiments."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, InitVar, dataclass, replace
from fractions import Fraction
from typing import Literal

from isdp.accounting.guarantees import Number, as_fraction
from isdp.checks import ExactNumber, check_choice
from isdp.commands.shared.noise_levels import NoiseLevels, SetMechanism
from isdp.errors import InputError
from isdp.exact.release_noise import parse_epsilon, parse_rho, rho_of_sigma
from isdp.mechanisms.base import Mechanism
from isdp.mechanisms.generalized_gaussian import GeneralizedGaussian
from isdp.mechanisms.generalized_laplace import NORMS, GeneralizedLaplace

UNITS = ("person", "unit")
DELTA = 1e-10  # the delta of the redistricting data of the 2020 Census


@dataclass(frozen=True)
class NoiseRequest:
    """A request for noise with one budget, which is kept as an exact rational number.

    Give exactly one of `noise`, `epsilon`, `rho` and `sigma`. The mechanism, the guarantee and the
    margins of error follow from it. With a budget per person, all three also depend on the fixed
    totals, as in `per_unit`. A float is read as its shortest decimal form.

    Parameters
    ----------
    noise : GeneralizedLaplace or GeneralizedGaussian, optional
        The mechanism. The parameter of the mechanism is a budget per unit of distance.
    epsilon : Fraction, int, str or float, optional
        Pure privacy loss of Laplace noise.
    rho : Fraction, int, str or float, optional
        Zero-concentrated privacy loss of Gaussian noise.
    sigma : Fraction, int, str or float, optional
        Scale of Gaussian noise, in persons. The request stores rho = 1 / (2 sigma^2) per unit.
    per : {"person", "unit"}, optional
        The unit of `epsilon` and `rho`. With "person" (the default), the loss is between the
        nearest two tables with equal fixed totals that differ in the cell of one person. With
        "unit", the loss is per unit of the norm, or of the squared l2 distance for `rho`.
    norm : {"l1", "l2"}, optional
        The norm of Laplace noise, by default l1. Noise of the l2 norm is for experiments only.
    delta : float, optional
        The certificate of Gaussian noise also states epsilon at this delta, by default 1e-10.
    experiment : bool
        Allow floating point and a pseudo-random generator.
    seed : int, optional
        Seed of the pseudo-random generator, only for experiments.
    allow_mcmc : bool
        Allow a Markov chain, only for experiments.
    levels : NoiseLevels, optional
        The levels whose totals have a term in the energy of the noise. `epsilon` or `rho` is then
        per person. If the levels have target errors, no budget is given.
    set_mechanism : NestedGaussian, NestedLaplace or CrossingGaussian, optional
        The mechanism of these levels for one table, which `request_for_table` adds.

    Raises
    ------
    InputError
        If the arguments contradict each other, or one is out of range.

    Examples
    --------
    >>> NoiseRequest(epsilon="1/2").per_unit(2) == NoiseRequest(GeneralizedLaplace(0.25))
    True
    >>> NoiseRequest(sigma="5/2").rho
    Fraction(2, 25)
    """

    noise: InitVar[Mechanism | None] = None
    _: KW_ONLY
    epsilon: ExactNumber | None = None
    rho: ExactNumber | None = None
    sigma: InitVar[ExactNumber | None] = None
    norm: Literal["l1", "l2"] | None = None
    delta: float | None = None
    per: Literal["person", "unit"] = "person"
    experiment: bool = False
    seed: int | None = None
    allow_mcmc: bool = False
    levels: NoiseLevels | None = None
    set_mechanism: SetMechanism | None = None

    def __post_init__(self, noise: Mechanism | None, sigma: ExactNumber | None) -> None:
        epsilon, rho, norm = self.epsilon, self.rho, self.norm
        budget: dict[str, object]
        given = sum(budget is not None for budget in (noise, epsilon, rho, sigma))
        if self.levels is not None:
            self._check_levels(given, noise is not None or sigma is not None)
        if given != (0 if self.find_budget else 1):
            raise InputError(
                "epsilon, rho, sigma: give exactly one of them. Gaussian noise (rho or sigma) has "
                "an epsilon only at a delta, and the certificate states it."
            )
        check_choice("per", self.per, UNITS)
        if norm is not None and epsilon is None:
            raise InputError("norm: this option needs epsilon. Give epsilon, or leave norm out.")
        if noise is not None:
            if not isinstance(noise, GeneralizedLaplace | GeneralizedGaussian):
                raise InputError(
                    f"NoiseRequest: noise must be a GeneralizedLaplace or a GeneralizedGaussian, "
                    f"got {noise!r}. Give a number by name, such as epsilon=0.25."
                )
            if isinstance(noise, GeneralizedLaplace):
                epsilon, norm = noise.exact_epsilon, noise.norm
            else:
                rho = noise.rho
        if epsilon is not None:
            check_choice("norm", norm or "l1", NORMS)
            budget = {"epsilon": parse_epsilon(epsilon), "norm": norm or "l1"}
            if self.delta is not None:
                raise InputError("delta: this option needs Gaussian noise. Give rho or sigma.")
        else:
            if sigma is not None:
                rho = rho_of_sigma(sigma)
            budget = {} if self.find_budget else {"rho": parse_rho(rho or 0)}
            budget["delta"] = DELTA if self.delta is None else parse_delta(self.delta)
        if not self.experiment and (self.seed is not None or self.allow_mcmc):
            name = "allow_mcmc" if self.seed is None else "seed"
            raise InputError(f"{name}: this option is never for release. Add experiment=True.")
        if noise is not None or sigma is not None:
            budget["per"] = "unit"
        for name, value in budget.items():
            object.__setattr__(self, name, value)

    @property
    def find_budget(self) -> bool:
        """True if the budget is still to be found from target errors."""
        return self.levels is not None and bool(self.levels.errors)

    def _check_levels(self, given: int, of_cells: bool) -> None:
        """Raise `InputError` if an option contradicts `levels`."""
        if self.find_budget and given:
            raise InputError(
                "--error: the errors of the levels determine the budget. Leave out epsilon and rho."
            )
        if of_cells or self.per == "unit" or self.norm == "l2":
            name = "norm" if self.norm == "l2" else "per" if self.per == "unit" else "sigma"
            raise InputError(
                f"{name}: with levels, the budget is epsilon or rho per person. Leave out {name}."
            )
        if self.allow_mcmc:
            raise InputError(
                "allow_mcmc: noise with levels has exact samplers only. Leave out allow_mcmc."
            )

    def per_unit(self, distance: int) -> NoiseRequest:
        """Convert a budget per person into a budget per unit of distance.

        Parameters
        ----------
        distance : int
            The smallest distance between two tables that agree in the fixed totals and differ in
            the cell of one person. It is the squared l2 distance for `rho` and for noise of the l2
            norm, and otherwise the l1 distance.
        """
        if self.per == "unit":
            return self
        if self.rho is not None:
            return replace(self, rho=Fraction(self.rho) / distance, per="unit")
        units = as_fraction(units_of_distance(self.norm, distance))
        return replace(self, epsilon=Fraction(self.epsilon or 0) / units, per="unit")

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of a request whose budget is per unit.

        Raises
        ------
        InputError
            If the budget is per person.
        """
        if self.set_mechanism is not None:
            return self.set_mechanism
        if self.per == "person":
            raise InputError(
                "NoiseRequest: the mechanism of a budget per person depends on the fixed totals. "
                "Give per='unit', or use the mechanism of per_unit(distance)."
            )
        if self.rho is None:
            return GeneralizedLaplace(Fraction(self.epsilon or 0), self.norm or "l1")
        return GeneralizedGaussian(rho=self.rho)


def units_of_distance(norm: str | None, distance: int) -> Number:
    """Return the root of a squared l2 distance, rounded up, if the norm is l2.

    For other norms the distance is returned unchanged.
    """
    if norm != "l2" or distance == 1:
        return distance
    root = math.sqrt(distance)
    return root if as_fraction(root) ** 2 >= distance else math.nextafter(root, math.inf)


def parse_delta(value: object) -> float:
    """Convert a delta to a float, and raise `InputError` if it is not between 0 and 1."""
    try:
        delta = float(str(value))
    except (TypeError, ValueError):
        delta = 0.0
    if not 0 < delta < 1:
        raise InputError(f"delta must be a number between 0 and 1, such as 1e-10, got {value!r}")
    return delta
