"""Public names of version 0.2 that were renamed. Their use raises an error with the new name."""

import sys
from collections.abc import Callable
from typing import NoReturn

RENAMED = {
    "isdp.accounting.Guarantee": "isdp.PrivacyGuarantee",
    "isdp.accounting.from_record": "isdp.accounting.guarantee_from_record",
    "isdp.accounting.upper": "isdp.accounting.upper_decimal",
    "isdp.exact.EnumeratedLaw": "isdp.exact.EnumeratedDistribution",
    "isdp.exact.TotalLaw": "isdp.exact.TotalDistribution",
    "isdp.exact.choose": "isdp.exact.select_sampler(mechanism, invariants)",
    "isdp.exact.enumerate_law": "isdp.exact.enumerate_distribution",
    "isdp.exact.release": "isdp.draw_noise(..., rng=isdp.SYSTEM_RANDOMNESS)",
    "isdp.exact.sample": "isdp.draw_noise(..., rng=numpy.random.default_rng(seed))",
    "isdp.exact.total_law": "isdp.exact.total_distribution",
    "isdp.mcmc.sample": "isdp.mcmc.draw_chains(mechanism, invariants)",
    "isdp.seeds": "isdp.streams",
    "isdp.subspace.Shape": "isdp.subspace.CovarianceShape",
    "isdp.subspace.least_trace": "isdp.subspace.min_trace_shape",
    "isdp.subspace.root_polytope_noise": "isdp.subspace.draw_root_polytope_noise",
    "isdp.subspace.spherical": "isdp.subspace.spherical_shape",
    "isdp.swapping.guarantee": "isdp.swapping.guarantee_of",
    "isdp.swapping.rates_for": "isdp.swapping.rates_with_epsilon",
    "isdp.swapping.smallest_epsilon": "isdp.swapping.min_epsilon",
    "isdp.swapping.smallest_worst_loss": "isdp.swapping.min_worst_case_loss",
    "isdp.swapping.unmix": "isdp.swapping.debias_table",
    "isdp.swapping.worst_loss": "isdp.swapping.worst_case_loss",
}


def refuse_removed_names() -> None:
    """Make each package refuse its removed names with their new names.

    Type checkers do not see this ``__getattr__`` of the packages. Otherwise they would accept any
    name.
    """
    for package in {old.rpartition(".")[0] for old in RENAMED}:
        vars(sys.modules[package])["__getattr__"] = _refuse_names_of(package)


def _refuse_names_of(package: str) -> Callable[[str], NoReturn]:
    def refuse(name: str) -> NoReturn:
        new = RENAMED.get(f"{package}.{name}")
        # `from ... import` would hide the message of an AttributeError
        if new is not None:
            raise ImportError(f"{package}.{name} is now {new}. See docs/changes-0.3.md")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return refuse
