"""Whether a wanted object runs, is starting, waits, is off or fails: the second word beside a verdict, with its reason.

Admission says what may exist; this says whether it works. Every face takes both from here.
"""
