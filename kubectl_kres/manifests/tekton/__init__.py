"""How manifests of Tekton are read. Nothing else in ``manifests`` imports it: it is registered."""
