"""What proves who we are: certificates, tokens, credential plugins, impersonation, and their renewal.

The files that name them belong in ``kubeconfig``.
"""
