"""Rules of the vertical autoscaler: its admission controller on a pod, and its updater's evictions; pure.

No stores and no texts here.
"""
