"""Sources of objects: a live cluster, a snapshot, the bundled example, or files alone.

Which objects a command asks about belongs in ``select``.
"""
