"""What ``explain --resize`` says of a resize of a running pod.

The rules themselves are in ``admission.resize.resize_pod``.
"""
