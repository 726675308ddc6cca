"""What the admission controller of the vertical autoscaler makes of a pod, and which pods its updater evicts; pure.

No stores and no texts here.
"""
