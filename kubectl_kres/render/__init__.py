"""A report as text or data. Nothing here reads; text of a cluster passes through ``text.line`` before it is drawn."""
