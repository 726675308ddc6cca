"""How many pods a workload wants and has, how many more fit, and what a rolling update needs meanwhile.

What one pod gets belongs in ``pod``.
"""
