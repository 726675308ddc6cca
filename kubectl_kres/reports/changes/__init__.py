"""What a change does: the world before it held against the world after it."""
