"""Validation that has nothing to do with resources: names, ports, labels, claims, services, workloads.

Only objects of files are looked at, so that a manifest that the server would refuse is not reported as admitted. No
resource rule lives here; what is not checked is listed by the report.
"""
