"""Experiments of the performance page."""
