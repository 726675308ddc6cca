"""Findings as text for people, and as SARIF for what shows them beside code."""
