"""What all additive mechanisms on the null space answer.

Each adds noise that does not depend on the data and lies in N = null C, so that the invariants of
the answers are as they were (SDP, Definition 2.2 and Corollary 3.2). The noise is continuous, in
floating point and from a pseudo-random generator: for study, not for the release of confidential
data. Where integers are wanted, see `isdp.exact`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isdp.accounting.guarantees import PrivacyGuarantee
from isdp.checks import check_choice
from isdp.constraints.invariants import Invariants
from isdp.subspace.null_space import NullSpace, null_space
from isdp.subspace.privacy.neighbours import RELATIONS, Relation
from isdp.subspace.privacy.sensitivities import check_fit
from isdp.subspace.queries import Query

METRICS = {"replace": "replacement", "add-remove": "addition-and-removal"}
COMPARED = {
    "replace": "what the invariants leave free of two data sets of one size",
    "add-remove": "what the invariants leave free of two data sets",
}


@dataclass(frozen=True, eq=False)
class NullSpaceMechanism(ABC):
    """What all of these mechanisms answer.

    Parameters
    ----------
    invariants : Invariants
        C, on the answers of the query.
    relation : {"replace", "add-remove"}
        Which data sets are neighbours. The paper's is "replace"; under a held total the other one
        says nothing of the data sets that can occur.
    """

    query: Query
    invariants: Invariants
    relation: Relation

    @cached_property
    def null(self) -> NullSpace:
        """The null space of the invariants."""
        return null_space(self.invariants)

    @abstractmethod
    def sample(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """Draw noise; float64 array, shape (draws, answers)."""

    @abstractmethod
    def covariance(self) -> np.ndarray:
        """Covariance of the noise, exactly; float64 array, shape (answers, answers)."""

    def variances(self) -> np.ndarray:
        """Variance of each answer; float64 array, shape (answers,)."""
        return np.diag(self.covariance())

    @property
    @abstractmethod
    def error(self) -> float:
        """Expected squared error, all answers together."""

    @abstractmethod
    def guarantee(self) -> PrivacyGuarantee:
        """Give what is guaranteed, as a value."""

    def guaranteed(
        self, flavour: str, loss: float, source: str, delta: float = 0
    ) -> PrivacyGuarantee:
        """Word a guarantee for one record, and for more where it is known how it grows."""
        growth = {"pure": "linear", "zCDP": "quadratic", "approximate": "none"}[flavour]
        person, why = (1 if self.relation == "replace" else 2), ""
        if growth == "none" and person == 2:
            person, why = None, "a changed record is one removed and one added, two steps"
        return PrivacyGuarantee(
            flavour,
            loss,
            METRICS[self.relation],
            person,
            source,
            delta=delta,
            growth=growth,
            relation=COMPARED[self.relation],
            held=f"{self.null.rank} independent invariants of the answers",
            why_not_per_person=why,
        )

    def pure(self, moved: float, source: str) -> PrivacyGuarantee:
        """Give epsilon for each record, or 0 where no record moves what is free."""
        if not moved:
            return self.guaranteed("pure", 0, "no record moves what is free")
        return self.guaranteed("pure", self.epsilon, source)


def put(law: NullSpaceMechanism, **values) -> None:
    """Set fields of a frozen law while it is made."""
    for name, value in values.items():
        object.__setattr__(law, name, value)


def set_up(law: NullSpaceMechanism, query, invariants, relation, **values) -> None:
    """Set a law's fields, and raise `InputError` unless query and invariants fit."""
    put(law, query=query, invariants=invariants, relation=relation, **values)
    check_choice("subspace: relation", relation, RELATIONS)
    check_fit(query, invariants)
