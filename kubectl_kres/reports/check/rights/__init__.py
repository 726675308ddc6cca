"""Rules about what could not be looked at, or was excused without a reason: codes KRES901 to KRES999."""
