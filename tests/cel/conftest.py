"""The program, for what is asked as a whole."""

from cli.conftest import kres, nowhere
