"""Plots of the field page."""
