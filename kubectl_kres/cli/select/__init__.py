"""The objects that a command is asked about, each with all that its answer needs in the store.

Answers are made in ``reports``.
"""
