"""What to change for a run: in itself, in what containers are given, in policies and in Tekton's configuration.

Each way is tried; who asks for them belongs above.
"""
