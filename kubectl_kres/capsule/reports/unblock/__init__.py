"""What would get a waiting claim served: other claims that leave, a smaller request, a larger pool, another pool.

Only ways that were tried out belong here.
"""
