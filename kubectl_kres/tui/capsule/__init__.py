"""Lists and screens of pools and claims. No other screen imports them: they are registered."""
