"""Commands about pools and claims, and their explanations. Other commands do not import them: they are registered."""
