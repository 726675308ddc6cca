"""Bytes to and from a server: addresses, proxies, deadlines, bodies, errors in kubectl's words.

Who we are belongs in ``auth``, what is read in ``read``.
"""
