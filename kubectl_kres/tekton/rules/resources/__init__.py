"""Resources of a run's containers: steps, task level, defaults, the share of LimitRanges.

Validation and the order of steps belong in the folders above.
"""
