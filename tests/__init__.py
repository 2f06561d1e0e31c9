"""Tests of the library, the papers and the workflow."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
