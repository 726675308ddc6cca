"""Reports about quotas and policies as text.

Nothing is computed here: a figure that is missing belongs in ``reports``.
"""
