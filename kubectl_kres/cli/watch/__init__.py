"""``-w``: the command is answered again when something changed, and what is another answer is printed.

How a cluster is watched belongs in ``cluster.watch.events``.
"""
