"""Reports about a ResourcePoolClaim: its state, its position in the queue, permitted actions, its size.

Ways to get it served belong in ``unblock``.
"""
