"""``kubectl kres``: flags, arguments, exit codes, one module per command. Nothing here computes a resource value."""
