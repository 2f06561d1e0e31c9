"""Modules that load late: all that is used of them is there, and nothing loads before."""

import subprocess
import sys

PROGRAM = """
import sys
from isdp.loading import postpone

postpone("numpy.f2py")
postpone("math", "numpy.f2py", "numpy.polynomial")
import math
import numpy
import scipy.sparse

assert "numpy.f2py.crackfortran" not in sys.modules
assert "numpy.polynomial.polynomial" not in sys.modules
assert math.sqrt(4) == 2
assert numpy.polynomial.Polynomial([1, 2])(3) == 7
assert "numpy.polynomial.polynomial" in sys.modules
from numpy.f2py import crackfortran
assert crackfortran is numpy.f2py.crackfortran
"""


def test_a_postponed_module_loads_when_something_of_it_is_used():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
