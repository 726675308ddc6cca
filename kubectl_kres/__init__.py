"""Explains what sets the requests and limits of pods: which rule, of which object."""

__version__ = "0.1.0"
