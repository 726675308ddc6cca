"""Tekton: everything about its runs and pipelines, from structs to screens.

Layers, lowest first: ``model``, ``rules``, ``manifests``, ``reports``, ``text``, ``screens``, ``commands``.
"""
