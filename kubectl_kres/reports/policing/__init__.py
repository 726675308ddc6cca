"""What admission plugins beside LimitRanges and quotas make of the next pod, and what of that was read."""
