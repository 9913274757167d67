"""Plots of the performance page."""
