"""Shared by all rules of Tekton: configuration, conversion, names, durations, variables, results.

Nothing here knows of pods, and nothing here imports another folder of ``tekton``.
"""
