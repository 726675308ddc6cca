"""The words of a command line: flags, their values, names of objects, selectors, patches.

Nothing is read from a cluster or a file of manifests here.
"""
