"""What is reported of a ResourcePool: what it shares out, who holds, who waits, what is odd.

Single claims belong in ``claim``.
"""
