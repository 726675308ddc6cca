"""Parts of all output: escaped lines with tones, columns, tables of values, JSON and YAML.

No form of one report lives here.
"""
