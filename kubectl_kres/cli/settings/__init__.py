"""The user's file of settings, and what wins over it.

Flags belong in ``args``.
"""
