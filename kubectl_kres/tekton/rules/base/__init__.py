"""What all rules of Tekton share: configuration, conversion, names, durations, variables, results.

Nothing here knows of pods, and nothing here imports another folder of ``tekton``.
"""
