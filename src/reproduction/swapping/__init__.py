"""Can swapping be differentially private? The slides' numbers, tables and open question."""
