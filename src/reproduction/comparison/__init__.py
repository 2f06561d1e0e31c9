"""All systems on one table: the 2010 counts by race, Hispanic origin and adulthood."""
