"""What the schema cannot tell of the lattice experiments' settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from isdp.errors import InputError
from reproduction.lattices.entry import build
from reproduction.running.config import ConfigError


def leave_out(lattices: dict) -> None:
    """Drop experiments, and laws of them, that are null, and the tables printed for these."""
    experiments = lattices.get("experiments") if isinstance(lattices, dict) else None
    for name, entry in [*experiments.items()] if isinstance(experiments, dict) else []:
        if entry is None:
            del experiments[name]
            continue
        laws = entry.get("laws") if isinstance(entry, dict) else None
        for law, settings in [*laws.items()] if isinstance(laws, dict) else []:
            if settings is None:
                del laws[law]
                if isinstance(entry.get("printed"), dict):
                    entry["printed"].pop(law, None)


def check(lattices: Mapping, config: dict, base: Path) -> None:
    """Raise ConfigError unless each experiment can be built, and its laws know the variants."""
    variants = sorted(lattices["variants"])
    for name, entry in lattices["experiments"].items():
        _check_experiment(f"lattices.experiments.{name}", entry, variants)
    if lattices["noise"]["variant"] not in variants:
        raise ConfigError(
            f"config: lattices.noise.variant: {lattices['noise']['variant']!r} will not do; "
            f"wanted: one of {', '.join(variants)}"
        )


def _check_experiment(key: str, entry: Mapping, variants: Collection[str]) -> None:
    try:
        experiment = build(entry)
    except InputError as error:
        raise ConfigError(f"config: {key}: {error}") from None
    for law, settings in entry["laws"].items():
        if set(settings["proposal"]) != set(variants):
            raise ConfigError(
                f"config: {key}.laws.{law}.proposal: wanted: one number for each of "
                f"{', '.join(variants)}"
            )
    for law, table in entry.get("printed", {}).items():
        size = np.asarray(table, dtype=object).shape
        if law not in entry["laws"] or size != experiment.shape:
            raise ConfigError(
                f"config: {key}.printed.{law}: wanted: a table in the shape of the axes, for one "
                f"of the laws {', '.join(entry['laws'])}"
            )
