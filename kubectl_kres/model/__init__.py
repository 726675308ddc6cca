"""Objects as read from Kubernetes: frozen structs with just the fields that answers depend on.

Data only. Quantities stay as the JSON text that was read (``ResourceList``); the engine parses them, so that one bad
quantity spoils one object and not a page of them. Annotations are no texts, as ``from __future__`` would have them:
msgspec would compile each one when it first decodes, which takes a twentieth of a start.
"""
