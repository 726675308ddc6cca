"""ResourceQuotas: what objects count for, which quotas a request concerns, who is refused, and the controller's
recount.

The order in which a request meets its plugins belongs in ``request``.
"""
