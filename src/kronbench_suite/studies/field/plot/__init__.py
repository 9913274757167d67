"""Drawings of the field page."""
