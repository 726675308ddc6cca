"""Standard output and what a command ends with: colour, width, documents, errors and exit codes.

The form of a report belongs in ``render``.
"""
