"""Capsule: everything about its pools and claims, from structs to screens.

Layers, lowest first: ``model``, ``rules``, ``replay``, ``reports``, ``fleet``, ``text``, ``screens``, ``commands``.
"""
