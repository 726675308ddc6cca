"""Pictures of characters, each with its figures beside it; letters tell parts apart, not colours.

They are drawn from values that a report holds: they compute cells and nothing else.
"""
