"""What of the objects beside pods exists in a store: the revisions of templates, the claims of pods.

What is made for an object, and what refuses it, is the business of ``reports/account``.
"""
