"""The run state of an object: running, starting, waiting, off or failing, with its reason.

Admission says what may exist; this says whether it works. Every face takes both from here.
"""
