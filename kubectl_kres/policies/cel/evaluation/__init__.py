"""Type check of a syntax tree, and its evaluation within a cost budget.

Single functions belong in ``libraries``.
"""
