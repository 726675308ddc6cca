"""A toy system on the command line."""
