"""Admission plugins beside LimitRanger and ResourceQuota: Pod Security, service accounts, policies in CEL.

Layers, lowest first: ``cel``, ``rules``, ``reports``, ``text``, ``screens``, ``commands``.
"""
