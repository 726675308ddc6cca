"""Rules about LimitRanges, quotas and pools that contradict each other or reach nothing: codes KRES201 to KRES299."""
