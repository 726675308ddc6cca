"""Rollouts: wanted and existing pods, how many more fit, and the needs of a rolling update.

The values of one pod belong in ``pod``.
"""
