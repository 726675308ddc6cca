"""The kubeconfig as kubectl reads it: files, merging, overrides, validation, the current context.

Nothing is sent from here and no plugin is run.
"""
