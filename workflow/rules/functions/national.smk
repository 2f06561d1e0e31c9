"""Files of the national runs, by their jobs."""


def of_all_releases(pattern):
    """The pattern for each job that releases, in the order of the releases."""
    return [
        path
        for family, jobs in JOBS.items()
        for path in expand(str(pattern), family=family, part=range(jobs))
    ]


def of_all_descents(pattern):
    return expand(str(pattern), part=range(len(DESCENTS)))


def national_tables(names):
    """A table's files; they are no part of the report."""
    return {
        f"{name}_{kind}": f"results/tables/national_{name}.{kind}"
        for name in names
        for kind in ("csv", "md", "html")
    }
