"""Rules of ``check``, each a module with its code, and what finds the objects that break them.

A rule is pure, and looks at a context: one namespace, or what a cluster has beside namespaces. ``registry`` lists the
modules. Nothing here words a line for a terminal, or knows of SARIF: that is ``render.check``.
"""
