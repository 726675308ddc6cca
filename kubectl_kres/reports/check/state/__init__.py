"""Rules about statuses that are not true, or that need somebody: codes KRES301 to KRES399."""
