"""Drawings of the page of rivals."""
