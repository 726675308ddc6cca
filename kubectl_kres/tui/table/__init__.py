"""The table of every list and what it is drawn from: rows, order, filter, columns, strips.

Nothing here knows what a row is about.
"""
