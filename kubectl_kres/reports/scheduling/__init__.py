"""The reasons why a pod waits, node by node: the scheduler's filters on what was read, and remedies that were tried.

Nothing is computed about admission here, and nothing is worded.
"""
