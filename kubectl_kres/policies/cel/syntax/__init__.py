"""Text to syntax tree: tokens, the parser, macros.

Types and values are looked at above.
"""
