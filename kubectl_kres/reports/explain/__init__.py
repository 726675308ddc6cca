"""What ``explain`` and ``diff`` say of a pod or a workload: the whole explanation, one value of it, a line of a list.

What it is made of stands in ``pod``, ``rollout`` and ``remedies``; what Tekton, Capsule and policies add is registered.
"""
