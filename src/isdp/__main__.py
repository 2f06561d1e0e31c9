"""Entry point of `python -m isdp`, which runs the same commands as `isdp`."""

import sys

from isdp.cli import main

if __name__ == "__main__":
    sys.exit(main())
