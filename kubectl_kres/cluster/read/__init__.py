"""Lists page by page, single objects, discovery: what fills a store once.

What keeps it filled belongs in ``watch``.
"""
