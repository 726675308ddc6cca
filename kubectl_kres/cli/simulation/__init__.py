"""The parts of ``kubectl kres simulate``: its steps out of flags and files."""
