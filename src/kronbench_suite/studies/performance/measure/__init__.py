"""Measurements of the performance page."""
