"""What a user would take today instead: one board of methods for pairs, low rank and classes."""
