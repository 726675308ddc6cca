"""The toy system."""
