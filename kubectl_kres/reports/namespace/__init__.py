"""The answers of ``explain`` about policies: LimitRanges, quotas, namespaces, and objects that quotas count beside
pods.

Pods and workloads belong in ``pod``.
"""
