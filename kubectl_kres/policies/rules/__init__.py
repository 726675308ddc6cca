"""Rules of the other admission plugins: namespaces, service accounts, Pod Security, policies in CEL; webhooks by name.

Works on whole objects as JSON has them, in the order of the server's plugins (``chain``). Pure: no I/O, no clock.
"""
