"""The ``resize`` subresource of a running pod: what may change, what the node and the quotas say, what restarts.

Other updates belong in ``request``.
"""
