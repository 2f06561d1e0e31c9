"""What the rules of the counties ask."""


def why_these_states():
    """For captions: the rule by which the states were chosen, once they are."""
    states = Path("results/tables/states.csv")
    if not states.is_file():
        return ""
    with open(states) as file:
        return f" States: {next(csv.DictReader(file))['rule']}."
