"""What a change does: a comparison of the objects before and after it."""
