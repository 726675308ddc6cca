"""What the API server sets and checks in the resources of one pod: defaults, sums, QoS, classes, validation.

What depends on other objects of the namespace belongs in ``limitrange`` and ``quota``.
"""
