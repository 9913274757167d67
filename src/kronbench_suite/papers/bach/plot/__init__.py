"""Drawings of Bach & Jordan (2005)."""
