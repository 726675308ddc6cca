"""Watching: readers on threads, their queue, and the one owner of the store.

A single read belongs in ``read``.
"""
