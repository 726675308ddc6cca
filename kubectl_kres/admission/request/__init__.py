"""The way of one request through the API server: CREATE and UPDATE of each kind, in the server's order of steps.

The steps themselves live in the folders below; a resize has a folder of its own.
"""
