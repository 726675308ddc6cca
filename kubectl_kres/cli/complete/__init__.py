"""Shell completion: what may stand at the cursor, and the names that fit there.

It imports nothing that a command needs beyond its flags.
"""
