"""What Capsule's reports come to for a fleet."""
