"""The pod that admission starts from, the reads that it takes, its values, and what the cluster reports about it.

The answer itself is put together in ``explain``; answers about quotas belong in ``quota``.
"""
