"""How many pods a workload wants and has, how many more fit, and what a rolling update needs meanwhile.

The values of one pod belong in ``pod``.
"""
