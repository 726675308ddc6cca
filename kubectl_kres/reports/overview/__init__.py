"""What ``overview`` says: areas with how their objects fare, and what is worst with its remedy.

``area`` is what systems fill in; ``areas`` are those of Kubernetes itself.
"""
