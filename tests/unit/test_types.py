"""The public interface as a type checker sees it."""

import re
import subprocess
import sys

import pytest

from tests import ROOT

RIGHT = """
import numpy as np
from numpy.typing import NDArray

from isdp import SYSTEM_RANDOMNESS, GeneralizedGaussian, GeneralizedLaplace, Invariants, draw_noise
from isdp import mcmc
from isdp.accounting import PrivacyGuarantee, compose

held = Invariants.margins((2, 3), ((0,), (1,)))
laplace = GeneralizedLaplace("1/3", norm="l1")
noise: NDArray[np.int64] = draw_noise(laplace, held, n_draws=2, rng=SYSTEM_RANDOMNESS)
draw_noise(GeneralizedGaussian(rho="1/8"), held, rng=np.random.default_rng(1), lower=[0] * 6)
chains: NDArray[np.int64] = mcmc.draw_chains(
    laplace, held, n_draws=3, acceptance="joint", rng=np.random.default_rng(1)
)
total: PrivacyGuarantee = compose([laplace.guarantee])
"""
WRONG = [
    'Invariants.margins("nonsense", 5, 6)',
    'GeneralizedLaplace(0.5, norm="l3")',
    "draw_noise(laplace, held)",
    "draw_noise(laplace, held, rng=1)",
    "draw_noise(held, laplace, rng=SYSTEM_RANDOMNESS)",
    "draw_noise(laplace, held, draws=2, rng=SYSTEM_RANDOMNESS)",
    'mcmc.draw_chains(laplace, held, n_draws=1, basis="other", rng=np.random.default_rng(1))',
    "mcmc.sample(laplace)",
    "laplace.guarantee()",
    'PrivacyGuarantee("simple", 1, "l1", 2, "source")',
]


def test_wrong_calls_are_reported_and_right_ones_are_not(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "calls.py"
    path.write_text("\n".join([RIGHT, *WRONG, ""]))
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(ROOT / "pyproject.toml"),
    ]
    command += ["--cache-dir", str(tmp_path / "cache"), str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    first = RIGHT.count("\n") + 1
    reported = {int(line) for line in re.findall(r"calls\.py:(\d+): error", done.stdout)}
    assert reported == {first + 1 + i for i in range(len(WRONG))}, done.stdout + done.stderr
