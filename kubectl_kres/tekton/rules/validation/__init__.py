"""Tekton's webhooks: what they refuse in an object that is sent, and their messages.

It exists so that ``-f`` does not explain a run that the cluster would never store. Objects in the cluster have passed
and are not looked at again. Nothing here computes resources.
"""
