"""What the first screen says: counts of each area, and what is wrong in it.

The screen itself is in ``screens``.
"""
