"""Families of statements that ``identities`` measures, one file for each subject.

A family is a function of a ``Problem``, the regularization value ``reg`` and a generator ``rng``.
It gives a list of rows, one for each statement, in the order of the text.
"""
