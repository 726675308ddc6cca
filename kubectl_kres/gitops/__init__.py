"""GitOps: what Argo CD and Flux apply from git, and whether they undo an edit in the cluster.

Layers, lowest first: ``model``, ``reports``.
"""
