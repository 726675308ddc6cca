"""Explanations of admission policies. Other commands do not import them: they are registered."""
