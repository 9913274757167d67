"""Experiments of Seeger (2006)."""
