"""Why a pod waits, node by node: the filters of the scheduler on what was read, and remedies that were tried.

Nothing is computed about admission here, and nothing is worded.
"""
