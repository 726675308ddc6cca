"""What ``qos`` says: classes and what decides them, the change that leads to another class, cgroups, sums of
namespaces.

Values and their origin belong in ``pod``.
"""
