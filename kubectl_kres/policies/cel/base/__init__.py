"""What every part of an expression shares: types, values at run time, errors, what an evaluation may cost.

Nothing here knows of text or functions.
"""
