"""Experiments of Bach & Jordan (2005)."""
