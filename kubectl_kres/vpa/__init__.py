"""The vertical pod autoscaler, which writes its recommendations into new pods and has old ones evicted.

Here live its kind, its rules, reports, texts and commands; nothing here is about another system.
"""
