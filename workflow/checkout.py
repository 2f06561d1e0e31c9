"""Folder of this checkout, and its packages, for the rules.

Snakemake can import modules from the folder of a Snakefile, from any working directory.
"""

import os
import sys
from pathlib import Path

BASE = Path(__file__).parents[1]
# relative paths where possible, so that a moved checkout reruns nothing
HERE = Path() if Path().samefile(BASE) else BASE
# resolved, so that copies of the checkout that share the packages share compiled code too
SOURCES = str((BASE / "src").resolve())

# rules, jobs and notebooks use the packages of this checkout, whether they are installed or not
sys.path.insert(0, SOURCES)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SOURCES, os.getenv("PYTHONPATH")]))
# containers set this variable, and each job would compile both packages
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
