"""What ``kubectl kres tui`` starts from: a live cluster, a snapshot, the bundled example.

Screens are in ``tui``.
"""
