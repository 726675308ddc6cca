"""Options that would unblock a waiting claim: removed claims, a smaller request, a larger pool, another pool.

Only ways that were tried out belong here.
"""
