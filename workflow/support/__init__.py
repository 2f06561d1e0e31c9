"""What the Snakefile needs before any rule runs; plain Python, so that tests can call it."""
