"""Parts of the workflow that all studies share: jobs, configuration, locks, sweeps, comparisons."""
