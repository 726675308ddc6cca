"""Pools and claims of files as Capsule would treat them once they are created.

Capsule's own rules are in ``capsule``.
"""
