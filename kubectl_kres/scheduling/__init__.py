"""The filters of kube-scheduler's default profile: which nodes can take a pod, and why the others cannot.

Values in, values out. Names are those of kube-scheduler. No scoring, no choice of a node, no reading of a cluster.
"""
