"""Lines of a timeline."""
