"""The terminal interface: screens over the same reports that the commands print."""
