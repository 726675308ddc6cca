"""Objects as read from Kubernetes: frozen structs with just the fields that answers depend on.

Data only. Quantities stay as the JSON text that was read (``ResourceList``); the engine parses them, so that one bad
quantity spoils one object and not a page of them.
"""
