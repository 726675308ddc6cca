"""Rules about pods, claims and runs that are refused, or would be refused the next time: codes KRES101 to KRES199."""
