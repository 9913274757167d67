"""Measurements of the field: numbers that others print, made again from their protocols."""
