"""Plots of Bach & Jordan (2005)."""
