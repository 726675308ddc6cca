"""The Pod Security Standards: levels, their checks and the server's words.

Other plugins stand beside this folder.
"""
