"""Kueue: why a workload waits in its queue, and what its request comes from. A slice, layered like the whole.

It holds no fact about other systems; common folders know it by its registrations alone.
"""
