"""Measurements of rivals."""
