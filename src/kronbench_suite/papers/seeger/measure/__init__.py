"""Measurements of Seeger (2006)."""
