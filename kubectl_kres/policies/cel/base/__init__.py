"""Shared by all parts of CEL: types, values at run time, errors, cost limits.

Nothing here knows of text or functions.
"""
