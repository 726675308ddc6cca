"""The nodes for a pod that waits, as text."""
