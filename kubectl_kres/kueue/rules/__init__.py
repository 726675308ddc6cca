"""What Kueue computes: what it charges, which flavor it takes, in which order, and what it says. Pure.

No reading, no wording of our own: sentences here are Kueue's.
"""
