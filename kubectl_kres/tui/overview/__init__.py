"""What the first screen is made from, kept as long as it holds: areas, refused workloads, remedies.

The screen itself is in ``screens``.
"""
