"""County totals under each state's total (ISDP, Sections 5 and E.4)."""
