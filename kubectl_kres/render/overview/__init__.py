"""The overview as text: areas with their bars, and what is worst with its remedy. Screens draw the same lines."""
