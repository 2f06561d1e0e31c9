"""What the rules of a sweep ask of its scenarios, and what a run says at its end."""


def scenario_of(wildcards):
    return SCENARIOS[wildcards.scenario]


def its_states(wildcards):
    return scenario_of(wildcards)["counties"]["states"]


def its_vintage(wildcards):
    return scenario_of(wildcards)["data"]["vintage"]


def sweep_goals(wildcards):
    if not SWEEP:
        raise ValueError("the config has no sweep: add --configfile config/sweep.yaml")
    made = rules.compare_scenarios.output
    return expand([str(made.svg), str(made.csv)], sweep=SWEEP)


def compare_what_is_done():
    """After a failure: the comparison of the scenarios that are done, where there is a sweep."""
    table = str(rules.collect_scenario.output.scenario)
    wanted = expand(table, sweep=SWEEP, scenario=SCENARIOS)
    done = [path for path in wanted if Path(path).is_file()]
    if not done or done == wanted:
        return
    from reproduction.counties.scenarios import compare_scenarios

    made = rules.compare_scenarios.output
    files = {name: str(made[name]).format(sweep=SWEEP) for name in ("csv", "data", "svg", "png")}
    compare_scenarios(SWEEP, done, **files)


def ending():
    """What a run says that went well, or had nothing to do."""
    words = [closing_words(Path("results")), *sweep_words(Path("results"), SWEEP, SCENARIOS)]
    return "\n".join(words)


def ending_of_failure():
    """What a run says that failed; a sweep still shows what it has."""
    compare_what_is_done()
    return "\n".join(sweep_words(Path("results"), SWEEP, SCENARIOS))
