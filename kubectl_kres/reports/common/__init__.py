"""Shared by all reports: the base record, the subject, the policies of a namespace, replicas, editors.

No answer to a command lives here.
"""
