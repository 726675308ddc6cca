"""Shared by all reports about pools and claims: states, one index of a store, needs, room.

No answer to a command lives here.
"""
