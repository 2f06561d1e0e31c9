"""`python -m isdp`."""

import sys

from isdp.cli import main

sys.exit(main())
