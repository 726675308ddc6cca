"""Base of all admission rules: the pod as a draft of quantities, field errors, outcomes, server versions.

No rule about one kind of object lives here, and nothing here imports another folder of ``admission``.
"""
