"""Plots of Stock et al. (2016)."""
