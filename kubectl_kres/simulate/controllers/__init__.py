"""What each controller does next, over counts: no object is looked at, and of a quota only whether there is room."""
