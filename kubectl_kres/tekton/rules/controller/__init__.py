"""The TaskRun controller: finds the Task, checks the run, builds every pod that it can submit, retries.

Pipelines belong in ``pipeline``.
"""
