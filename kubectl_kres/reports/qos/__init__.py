"""The answers of ``qos``: classes and what decides them, changes that lead to another class, cgroups, sums of
namespaces.

Values and their origin belong in ``pod``.
"""
