"""A toy system in the texts."""
