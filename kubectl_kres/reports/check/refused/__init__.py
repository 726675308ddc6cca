"""Rules about pods, claims and runs that do not come, or will not come again: codes KRES101 to KRES199."""
