"""What is made of a syntax tree: its types are checked, and it is evaluated within its budget.

Single functions belong in ``libraries``.
"""
