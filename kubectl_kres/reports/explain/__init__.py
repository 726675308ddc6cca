"""What ``explain`` and ``diff`` say of a pod or a workload: the whole explanation, one value of it, a line of a list.

Its parts are computed in ``pod``, ``rollout`` and ``remedies``; Tekton, Capsule and policies register theirs.
"""
