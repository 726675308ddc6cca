"""LimitRanges: the object's own validation, and the plugin that applies it to pods and claims.

Quotas belong in ``quota``.
"""
