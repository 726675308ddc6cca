"""What is reported of a ResourcePoolClaim: its state, its place in the queue, what may be done to it, its size.

Ways to get it served belong in ``unblock``.
"""
