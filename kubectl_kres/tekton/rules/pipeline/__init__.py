"""The PipelineRun controller: a TaskRun for each task, their order, and how much of it can run at once.

What becomes of one TaskRun belongs in ``controller``.
"""
