"""Drawings of Seeger (2006)."""
