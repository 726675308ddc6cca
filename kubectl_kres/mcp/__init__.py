"""Answers for agents, over the Model Context Protocol: read-only tools on standard input and output."""
