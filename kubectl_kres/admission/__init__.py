"""Admission: defaults, checks and refusals of the API server when an object is created. Pure: data in, data out.

Rules follow the Kubernetes sources (named in the docstrings) at v1.36; ``server.py`` says what differs before.
"""
