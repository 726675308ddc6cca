"""A report as text or data. Nothing here reads, and text of a cluster passes through ``escape`` before it is drawn."""
