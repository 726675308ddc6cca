"""The answers of ``quota``: what is limited, used and left, by whom, what still fits, and which workloads are refused.

Pods explained one by one belong in ``pod``.
"""
