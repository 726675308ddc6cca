"""Reports about pools and claims as text.

Nothing is computed here: a figure that is missing belongs in ``reports``.
"""
