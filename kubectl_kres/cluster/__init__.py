"""Reading a live API server: the kubeconfig, one connection, lists and single objects. Nothing is ever written."""
