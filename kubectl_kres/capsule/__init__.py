"""Capsule's pools and claims as its controller v0.14 has them: choice, assignment, allocation, quotas, refusals.

A world is a value; an event makes the set of worlds that it can lead to. Nothing here reads, waits or writes.
"""
