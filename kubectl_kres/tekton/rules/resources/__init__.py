"""How Tekton computes the resources of a run's containers: steps, task level, defaults, its share of LimitRanges.

Validation and the order of steps belong in the folders above.
"""
