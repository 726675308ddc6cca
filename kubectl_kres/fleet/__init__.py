"""One report about many clusters: which there are, who works on them, what becomes of each, and files of rows.

A unit of work is one cluster. What the report says of it is made above, in ``cli/fleet``; no text is worded here.
"""
