"""The functions that expressions may call, of the standard and of Kubernetes, one library a module.

How a call is found and charged belongs in ``evaluation``.
"""
