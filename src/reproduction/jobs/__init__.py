"""What happens around the rules: jobs, config checks, locks, sweeps, comparing two runs."""
