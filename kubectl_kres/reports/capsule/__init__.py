"""What is reported of Capsule: pools, claims, who waits for what, and what would unblock it."""
