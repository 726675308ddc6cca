"""Rules about pod templates that do something else than it seems: codes KRES401 to KRES499."""
