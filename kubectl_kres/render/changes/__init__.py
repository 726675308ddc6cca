"""What a change does, and whether files fit together, as text.

Nothing is computed here: a figure that is missing belongs in ``reports``.
"""
