"""A toy system in the reports."""
