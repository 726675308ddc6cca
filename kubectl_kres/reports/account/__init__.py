"""All that has to be created for an object to be as its spec says, in the order in which controllers make it.

Faces read an account as part of an analysis; nothing here words anything.
"""
