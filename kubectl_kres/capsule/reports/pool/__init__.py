"""What is reported of a ResourcePool: what it shares out, who holds, who waits, what is wrong.

Single claims belong in ``claim``.
"""
