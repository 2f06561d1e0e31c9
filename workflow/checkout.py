"""Find the folder of this checkout, and use its packages.

The rules can import this module from any working directory, because it is in the folder of the
Snakefile.
"""

import os
import sys
from pathlib import Path

BASE = Path(__file__).parents[1]
# a relative path if possible, because Snakemake reruns jobs if a path changes
HERE = Path() if Path().samefile(BASE) else BASE
# links are resolved, because checkouts that share the packages by links also share compiled code
SOURCES = str((BASE / "src").resolve())

# rules, jobs and notebooks use the packages of this checkout, even if other versions are installed
sys.path.insert(0, SOURCES)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SOURCES, os.getenv("PYTHONPATH")]))
# some containers set this variable, which would make every job compile the packages
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
