"""What all answers about pools and claims share: states, one index of a store, needs, room.

No answer to a command lives here.
"""
