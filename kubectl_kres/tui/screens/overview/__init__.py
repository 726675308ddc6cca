"""The first screen: ``pane`` is the screen, the rest what its rows say and how its parts share the room."""
