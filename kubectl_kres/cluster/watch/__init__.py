"""What keeps a store as the cluster is: readers on threads, their queue, and the store's one owner.

A single read belongs in ``read``.
"""
