"""Run the commands as `python -m isdp`."""

import sys

from isdp.cli import main

if __name__ == "__main__":
    sys.exit(main())
