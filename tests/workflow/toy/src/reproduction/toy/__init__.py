"""Signs at random, as an example."""
