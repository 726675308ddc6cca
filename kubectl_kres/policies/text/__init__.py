"""What admission policies do, as text."""
