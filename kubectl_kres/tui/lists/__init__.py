"""The lists, each an entry for the one list screen."""
