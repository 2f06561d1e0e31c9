import numpy as np

from reproduction.toy.experiment import signs


def test_signs_are_one_or_minus_one():
    assert signs(np.random.default_rng(1), 1)["mean"].abs().tolist() == [1]
