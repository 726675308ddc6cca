"""Provenance: the rule and the object that set each value.

One flat journal per object: the steps of a value are the entries with its path, in order. Paths are written as the API
server writes them in its errors (``spec.containers[0].resources.limits[cpu]``). Nothing here
knows a rule's arithmetic.
"""
