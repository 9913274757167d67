"""Measurements of Bach & Jordan (2005)."""
