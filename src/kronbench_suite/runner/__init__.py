"""From a measurement to a row: clock, seeds, solvers, one job; items and their provenance."""
