"""Drawings of the performance page."""
