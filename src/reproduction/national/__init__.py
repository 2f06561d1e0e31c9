"""Runs for a cluster: releases of all states by all systems, and TopDown down to blocks."""
