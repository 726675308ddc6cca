"""A toy system in the terminal interface."""
