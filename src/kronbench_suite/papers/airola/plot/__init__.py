"""Plots of Airola & Pahikkala (2016, 2018)."""
