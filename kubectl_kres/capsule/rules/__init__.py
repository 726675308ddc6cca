"""Capsule's rules, one a module, each usable alone on what was read: choice of a pool, allocation, quotas, webhooks.

What happens over time belongs in ``replay``.
"""
