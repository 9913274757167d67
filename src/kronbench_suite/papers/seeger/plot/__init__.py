"""Plots of Seeger (2006)."""
