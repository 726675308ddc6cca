"""Explains what sets the requests and limits of pods: which rule, of which object."""

__version__ = "0.1.0"

#: Where bugs are reported. Its address belongs here, and nowhere else, as soon as there is one.
ISSUES = "the project's issue page"
