"""A store on disk: one file that is whole or refused, and holds no secrets."""
