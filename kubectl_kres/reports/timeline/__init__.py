"""What has decided about pods, and when: edits of policies, new templates, refusals, claims, kills."""
