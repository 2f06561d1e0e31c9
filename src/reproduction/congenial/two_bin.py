"""Conditioned and projected noise on a two-bin histogram with a fixed total (CDP, Example 4.1).

The unconstrained noise u1, u2 is independent Laplace noise of scale 2/epsilon. Every release of the
counts (s1, s2) is (s1 + v, s2 - v) for some noise v. The mechanisms differ in v:

- conditional: u1 given u1 + u2 = 0, which is Laplace noise of scale 1/epsilon;
- l2-projected: (u1 - u2) / 2;
- l1-projected with weight beta: beta u1 - (1 - beta) u2, which is the l2 projection for beta = 1/2.

CDP is *Congenial Differential Privacy under Mandated Disclosure*.
"""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
from scipy.integrate import quad

from isdp.constraints.invariants import Invariants
from isdp.mcmc.metropolis import draw_chains
from isdp.mechanisms.generalized_laplace import GeneralizedLaplace

# grid of values of v for the maximum privacy loss, in units of 1/epsilon
LOSS_GRID = np.concatenate([np.linspace(0, 10, 41), np.geomspace(12, 10_000, 40)])
TAU_EPSILONS, TAU_BETAS = (0.5, 1.0, 2.0), (0.6, 0.75, 0.9)
TAU_POINTS = (1.0, 200.0)  # values of v in units of 1/epsilon; the second is in the tail


def draw_conditional_noise(rng: np.random.Generator, epsilon: float, draws: int) -> np.ndarray:
    """Draw v by rejection. A proposal u1 is accepted with the relative density of u2 at -u1."""
    kept: list[np.ndarray] = []
    missing = draws
    while missing > 0:
        u = rng.laplace(scale=2 / epsilon, size=3 * missing)
        accepted = u[rng.random(len(u)) < np.exp(-epsilon / 2 * np.abs(u))][:missing]
        kept.append(accepted)
        missing -= len(accepted)
    return np.concatenate(kept)


def log_density(epsilon: float, beta: float | None) -> Callable[[float], float]:
    """Return the logarithm of the density of v, by numerical integration.

    `beta` is the weight of the projection. It is None for the conditional mechanism.
    """
    rate = epsilon / 2

    def log_laplace(x: float) -> float:
        return math.log(rate / 2) - rate * abs(x)

    if beta is None:
        mass = 2 * quad(lambda u: math.exp(log_laplace(u) + log_laplace(-u)), 0, np.inf)[0]
        return lambda v: log_laplace(v) + log_laplace(-v) - math.log(mass)
    if beta in (0, 1):
        return log_laplace

    def projected(v: float) -> float:
        # The integral is over u2. The integrand is largest where u1 or u2 is zero. It is divided by
        # its maximum to avoid underflow.
        kinks = sorted((0.0, -v / (1 - beta)))

        def log_integrand(u: float) -> float:
            return log_laplace(u) + log_laplace((v + (1 - beta) * u) / beta) - math.log(beta)

        peak = max(map(log_integrand, kinks))
        pieces = ((-np.inf, kinks[0]), tuple(kinks), (kinks[1], np.inf))
        area = sum(
            quad(lambda u: math.exp(log_integrand(u) - peak), *piece, epsabs=0, epsrel=1e-10)[0]
            for piece in pieces
            if piece[0] < piece[1]
        )
        return peak + math.log(area)

    return projected


def attained_loss(epsilon: float, beta: float | None) -> float:
    """Compute the largest privacy loss between histograms with first bins s1 and s1 + 1.

    The result is the maximum over a grid of v up to 10^4/epsilon. If the supremum is a limit in the
    tail, the result is about 10^-4 epsilon smaller.
    """
    f = log_density(epsilon, beta)
    return max(abs(f(x) - f(x + 1)) for x in LOSS_GRID / epsilon)


def tabulate_two_bin(
    rng: np.random.Generator, counts: list[int], epsilon: float, betas: list[float], draws: int
) -> pd.DataFrame:
    """Compare closed forms with simulations (CDP, Table 2, Appendix A, Example 5.2).

    `counts` are s1 and s2, and `betas` are weights of the l1 projection. The column `gamma` is the
    gamma of CDP, Theorem 2.1, with k = 2 (k = 1 in Example 5.2).
    """
    s1, s2 = counts
    mechanisms = [
        ("conditional", None, s1, "2/epsilon^2"),
        ("l2-projected", 0.5, (s1 + s2) / 2, "4/epsilon^2"),
        *(("l1-projected", beta, s1, "4/epsilon^2 to 8/epsilon^2") for beta in betas),
    ]
    *streams, known = rng.spawn(len(mechanisms) + 1)
    rows = []
    for stream, (mechanism, beta, paper_mean, paper_variance) in zip(
        streams, mechanisms, strict=True
    ):
        if beta is None:
            noise = draw_conditional_noise(stream, epsilon, draws)
            closed, loss = 2 / epsilon**2, epsilon
        else:
            first, second = stream.laplace(scale=2 / epsilon, size=(2, draws))
            noise = beta * first - (1 - beta) * second
            closed = 8 * (beta**2 + (1 - beta) ** 2) / epsilon**2
            loss = epsilon / (2 * max(beta, 1 - beta))
        variance = noise.var(ddof=1)
        variance_se = np.square(noise - noise.mean()).std(ddof=1) / math.sqrt(draws)
        off, mcse = s1 + noise.mean() - paper_mean, math.sqrt(variance / draws)
        attained = attained_loss(epsilon, beta)
        rows.append(
            {
                "mechanism": mechanism,
                "beta": np.nan if beta is None else beta,
                "paper_mean_1": paper_mean,
                "mean_1": s1 + noise.mean(),
                "mcse": mcse,
                "off_paper": off,
                "z_paper": off / mcse,
                "variance_paper": paper_variance,
                "variance_closed": closed,
                "variance": variance,
                "variance_se": variance_se,
                "z_variance": (variance - closed) / variance_se,
                "loss_closed": loss,
                "loss_numeric": attained,
                "gamma": attained / (2 * epsilon) - 1,
            }
        )
    table = pd.DataFrame([*rows, _known_query(known, epsilon)])
    return table.assign(loss_off=(table["loss_numeric"] - table["loss_closed"]) / epsilon)


def tabulate_tau() -> pd.DataFrame:
    """Measure tau of the density of l1-projected noise, and compare it with CDP, Appendix A.

    For x > 0 the density is proportional to exp(-alpha x) (beta - (1 - beta) exp(-tau x)), with
    alpha = epsilon / (2 beta) and beta > 1/2.
    """
    rows = []
    for epsilon, beta in product(TAU_EPSILONS, TAU_BETAS):
        alpha, f = epsilon / (2 * beta), log_density(epsilon, beta)
        near, far = TAU_POINTS[0] / epsilon, TAU_POINTS[1] / epsilon
        ratio = math.exp(f(near) - f(far) + alpha * (near - far))
        tau = -math.log((1 - ratio) * beta / (1 - beta)) / near
        rows.append((epsilon, beta, tau, (2 * beta - 1) / (2 * beta * (1 - beta))))
    table = pd.DataFrame(rows, columns=["epsilon", "beta", "tau", "tau_paper"])
    return table.assign(off_paper=table["tau"] - table["tau_paper"])


def _known_query(rng: np.random.Generator, epsilon: float) -> dict:
    """Release one cell under its own total. The invariant determines the query (Example 5.2)."""
    noise = draw_chains(
        GeneralizedLaplace(epsilon), Invariants.total(1), n_draws=1000, rng=rng
    ).ravel()
    # if all noise is 0, the release is the same for all datasets that meet the invariant
    loss = 0.0 if (noise == 0).all() else math.inf
    return {
        "mechanism": "conditional, query known (Example 5.2)",
        "paper_mean_1": 5.0,
        "mean_1": 5 + noise.mean(),
        "mcse": 0.0,
        "z_paper": loss,
        "variance_paper": "0",
        "variance_closed": 0.0,
        "variance": noise.var(),
        "variance_se": 0.0,
        "z_variance": loss,
        "loss_closed": 0.0,
        "loss_numeric": loss,
        "gamma": loss / epsilon - 1,
    }
