"""YAML and JSON text as values, read as kubectl reads them, and the place of each value in its text.

What the values mean belongs to `manifests/` and `cluster/kubeconfig/`, which both read through this room.
"""
