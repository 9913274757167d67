"""Seeger (2006): cross-validation optimization for structured Hessians."""
