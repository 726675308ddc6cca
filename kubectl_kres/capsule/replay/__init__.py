"""What becomes of pools and claims over time: a world, events, and every world at rest that an event can lead to.

A rule that needs no world belongs in ``rules``.
"""
