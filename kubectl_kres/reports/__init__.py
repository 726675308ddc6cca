"""One answer per command: takes a store and a question, returns frozen structs.

Reports join the engines with what was read. They do no I/O, know no clock (``WorkerCall.now``) and word nothing for a
terminal; ``render/`` does. A screen and a command for the same question call the same report.
"""
