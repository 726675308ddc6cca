"""Simulation of a change: objects are applied, scaled or deleted, controllers act, quotas refuse.

Pure: a world and the steps of a change go in, every end that the controllers can come to rest at comes out.
"""
