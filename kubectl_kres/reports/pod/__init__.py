"""What ``explain`` and ``diff`` say of a pod or a workload, from the manifest that admission starts from to the
verdict.

Remedies belong in ``remedy``, quotas seen from their own side in ``quota``.
"""
