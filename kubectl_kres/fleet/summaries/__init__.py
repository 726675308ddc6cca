"""What each report comes to for a fleet: rows, and the figures of a cluster. Those of a system are in its folder."""
