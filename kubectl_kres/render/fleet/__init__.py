"""Many clusters as one table."""
