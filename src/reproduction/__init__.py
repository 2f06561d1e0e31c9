"""The papers: their experiments, figures, data and review pages, on top of `isdp`."""
