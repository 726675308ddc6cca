"""The pod that admission starts from, what it takes to read it, its values, and what the cluster says of it.

The answer itself is put together in ``explain``; quotas seen from their own side belong in ``quota``.
"""
