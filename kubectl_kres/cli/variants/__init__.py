"""Other answers that a flag of a command chooses, as ``explain --resize``: a plan and a page each.

What has a name of its own in the help belongs in ``commands``.
"""
