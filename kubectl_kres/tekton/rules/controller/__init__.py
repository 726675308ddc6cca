"""What the TaskRun controller does: finds the Task, checks the run, builds every pod that it can submit, tries again.

Pipelines belong in ``pipeline``.
"""
