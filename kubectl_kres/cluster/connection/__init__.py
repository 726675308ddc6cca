"""One connection to an API server: TLS, retries, warnings, and the question who we are.

Which objects are read belongs in ``read``.
"""
