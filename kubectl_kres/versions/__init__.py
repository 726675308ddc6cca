"""What a Kubernetes version changes, as data: feature gates, and behaviour that no gate switches.

Tables only, so that a reader can compare two versions. Rules ask them through ``Server.on`` and ``Server.behaves``;
how a rule works stands where the rule is. Functions of CEL carry their version beside their signature, checks of Pod
Security in their list of forms; ``scripts/versions_doc.py`` writes all of it to docs/versions.md.
"""
