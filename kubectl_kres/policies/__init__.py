"""Admission plugins beside LimitRanger and ResourceQuota: Pod Security, service accounts, policies in CEL.

Layers, lowest first: ``cel``, ``rules``, ``reports``, ``changes``, ``text``, ``screens``, ``commands``. ``rules`` is a
layer over ``admission``, which simulations and systems import; what stands above it is registered and not imported.
"""
