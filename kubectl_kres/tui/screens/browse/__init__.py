"""The screen of every list: ``pane`` is the screen, ``rows`` keeps what its table shows up to date."""
