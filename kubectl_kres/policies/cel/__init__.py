"""The Common Expression Language as Kubernetes runs it: parse, check and evaluate one expression.

Follows cel-go 0.26 and the libraries of k8s.io/apiserver, with their error texts. Pure: no I/O, no clock.
"""
