"""The objects that were read, and which kinds could be read. No I/O: cluster/, snapshot/ and manifests/ fill it."""
