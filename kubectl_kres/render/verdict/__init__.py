"""The words of verdicts, causes and first lines, the same for every report and both faces.

Forms of one report belong beside this folder.
"""
