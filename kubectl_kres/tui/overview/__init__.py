"""What the first screen tells, computed a slice of time after the other: ``areas`` is all of it, the rest its parts."""
