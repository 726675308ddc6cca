"""The lines of kubectl describe, for comparison.

The words are kubectl's; ours belong elsewhere.
"""
