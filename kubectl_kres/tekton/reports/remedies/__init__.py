"""Remedies of a run: in itself, in defaults of containers, in policies and in Tekton's configuration.

Each is tried; the callers stand above.
"""
