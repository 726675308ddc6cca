"""The explanation of a pod or workload: the whole, one value of it, a line of a list.

Its parts are computed in ``pod``, ``rollout`` and ``remedies``; Tekton, Capsule and policies register theirs.
"""
