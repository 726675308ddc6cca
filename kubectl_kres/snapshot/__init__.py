"""Snapshots: a store in one file, which is complete or refused, and holds no secrets."""
