"""One module a command: its flags, its help, which report it asks for and how it is printed.

What two commands share belongs in the folders beside this one.
"""
