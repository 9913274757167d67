"""Measurements of the page of rivals: other libraries and algorithms under one protocol."""
