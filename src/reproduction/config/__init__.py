"""The configuration of the workflow."""
