"""Reports about pods and workloads as text.

Nothing is computed here: a figure that is missing belongs in ``reports``.
"""
