"""What ``explain`` says of claims and pools: how each came to be as it is, turn by turn.

Rows of lists belong in ``claim`` and ``pool``.
"""
