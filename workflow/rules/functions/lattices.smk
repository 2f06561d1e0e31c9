"""What the rules of the lattice experiments ask of the config."""


def having(*keys):
    """Experiments whose entry has the given keys."""
    return [name for name, entry in LATTICES.items() if all(key in entry for key in keys)]


def experiment_of(wildcards):
    """What an experiment's lattice is made of; its laws apart, so that they rerun only their own."""
    entry = LATTICES[wildcards.experiment]
    return {key: value for key, value in entry.items() if key not in ("laws", "printed")}


def laws_of(wildcards):
    return LATTICES[wildcards.experiment]["laws"]


def law_of(wildcards):
    return laws_of(wildcards)[wildcards.law]


def printed_of(wildcards):
    """Noise tables that the paper prints, by law."""
    return LATTICES[wildcards.experiment]["printed"]


def printed_laws(wildcards):
    return printed_laws_of(wildcards.experiment)


def printed_laws_of(name):
    """Laws of an experiment whose noise the paper prints."""
    return {law: LATTICES[name]["laws"][law] for law in LATTICES[name]["printed"]}


def of_every_law(pattern, key="laws"):
    """The pattern for each law of each experiment, or for those that another key names."""
    return [
        path
        for name, entry in LATTICES.items()
        for path in expand(str(pattern), experiment=name, law=entry.get(key, []))
    ]
