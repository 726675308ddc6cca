"""What else admits a request: Pod Security, service accounts, admission policies and their language.

Layers, lowest first: ``cel``, ``rules``, ``reports``, ``text``, ``screens``, ``commands``.
"""
