"""The list of admission policies: what ``explain policies`` prints, as rows."""
