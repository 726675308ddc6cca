"""Remedies for refused pods: edits found by trying them in the engine, as values that a program can make."""
