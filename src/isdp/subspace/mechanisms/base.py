"""Common interface of the additive mechanisms on the null space.

Each mechanism adds noise that does not depend on the data and lies in the null space N of the
invariants. The invariants of the answers therefore stay exact (*Subspace Differential Privacy*,
SDP, Definition 2.2 and Corollary 3.2). The noise is continuous and comes from a pseudo-random
generator in floating point. Use it for studies, not to release confidential data. `isdp.exact`
draws integer noise for release.
"""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from isdp.accounting.guarantees import Flavour, Growth, Number, PrivacyGuarantee
from isdp.arrays import FloatArray
from isdp.checks import check_choice, check_integer, check_positive_float
from isdp.constraints.invariants import Invariants
from isdp.subspace.null_space import NullSpace, null_space
from isdp.subspace.privacy.neighbours import RELATIONS, Relation
from isdp.subspace.privacy.sensitivities import check_fit
from isdp.subspace.queries import Query

GROWTHS: dict[Flavour, Growth] = {
    "pure": "linear",
    "zCDP": "quadratic",
    "approximate": "none",
}
NO_DIFFERENCE = "no record changes the answers within the null space"
METRICS = {"replace": "replacement", "add-remove": "addition-and-removal"}
COMPARED = {
    "replace": "two data sets of one size, apart from the invariants",
    "add-remove": "two data sets, apart from the invariants",
}


class NullSpaceMechanism(ABC):
    """Additive noise on the null space of the invariants.

    Parameters
    ----------
    invariants : Invariants
        Invariants C of the answers of the query.
    epsilon : float
        Privacy loss of one record.
    relation : {"replace", "add-remove"}
        Definition of neighbouring data sets. The paper uses "replace". With "add-remove" and a
        fixed number of records, no two possible data sets are neighbours.
    """

    def __init__(
        self,
        query: Query,
        invariants: Invariants,
        epsilon: float,
        relation: Relation = "replace",
    ):
        check_positive_float("subspace: epsilon", epsilon)
        check_choice("subspace: relation", relation, RELATIONS)
        check_fit(query, invariants)
        self.query, self.invariants, self.relation = query, invariants, relation
        self.epsilon = epsilon

    @cached_property
    def null(self) -> NullSpace:
        """The null space of the invariants."""
        return null_space(self.invariants)

    def sample(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        """Draw noise as a float64 array of shape (n_draws, answers)."""
        return self._draw(rng, check_integer("subspace", "n_draws", n_draws))

    @abstractmethod
    def _draw(self, rng: np.random.Generator, n_draws: int) -> FloatArray: ...

    @abstractmethod
    def covariance(self) -> FloatArray:
        """Compute the covariance matrix of the noise, of shape (answers, answers)."""

    def variances(self) -> FloatArray:
        """Compute the variance of the noise of each answer."""
        return np.diag(self.covariance())

    @property
    @abstractmethod
    def error(self) -> float:
        """Expected squared error, summed over the answers."""

    @property
    @abstractmethod
    def guarantee(self) -> PrivacyGuarantee:
        """Privacy guarantee between neighbouring data sets."""

    def _guarantee(
        self, flavour: Flavour, loss: Number, source: str, delta: float = 0
    ) -> PrivacyGuarantee:
        growth = GROWTHS[flavour]
        per_person: int | None = 1 if self.relation == "replace" else 2
        reason = ""
        if growth == "none" and per_person == 2:
            per_person, reason = None, "a changed record is one removed and one added record"
        return PrivacyGuarantee(
            flavour,
            loss,
            METRICS[self.relation],
            per_person,
            source,
            delta=delta,
            growth=growth,
            relation=COMPARED[self.relation],
            held=f"{self.null.rank} independent invariants of the answers",
            why_not_per_person=reason,
        )

    def _pure_guarantee(self, sensitivity: float, source: str) -> PrivacyGuarantee:
        """Return epsilon per record, or 0 if the differences within the null space are all zero."""
        if not sensitivity:
            return self._guarantee("pure", 0, NO_DIFFERENCE)
        return self._guarantee("pure", self.epsilon, source)
