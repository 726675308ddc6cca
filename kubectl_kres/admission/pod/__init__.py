"""Resources of one pod: defaults, sums, QoS, classes, validation.

What depends on other objects of the namespace belongs in ``limitrange`` and ``quota``.
"""
