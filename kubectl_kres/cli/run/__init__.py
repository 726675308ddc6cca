"""The loop in which a command's answers are made, and what is said and returned at its end.

How one answer is printed belongs in ``commands``.
"""
