"""A user's own pairs: read from files, scored, fitted, kept in a model file, predicted."""
