"""What a kubelet makes of an admitted pod: cgroups, their files, kernel units, OOM scores.

Nothing here decides whether a pod is admitted.
"""
