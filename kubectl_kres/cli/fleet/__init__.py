"""``fleet``: which reports it has, and how a worker answers one for a cluster.

The command is in ``commands/fleet``; who works and where the rows go is in ``kubectl_kres/fleet``.
"""
