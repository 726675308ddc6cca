"""How a MutatingAdmissionPolicy changes an object: a JSON patch, or a configuration that is applied to it."""
