"""Reports about TaskRuns and PipelineRuns as text.

Nothing is computed here: a figure that is missing belongs in ``reports``.
"""
