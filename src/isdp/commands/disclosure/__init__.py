"""The protection that a release gives, and the facts that its exact totals alone reveal."""
