"""Airola & Pahikkala (2016, 2018): the generalized vec trick."""
