"""Replay of Capsule's controllers: a world, events, and every settled world that an event can lead to.

A rule that needs no world belongs in ``rules``.
"""
