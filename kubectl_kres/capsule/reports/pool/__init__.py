"""Reports about a ResourcePool: its amounts, holders, queue and faults.

Single claims belong in ``claim``.
"""
