"""Where decoding an object stops or drops something: unknown fields, wrong JSON types, unparsable quantities, gated
fields.

Rules that look at values that were decoded belong in ``structure`` or ``pod``.
"""
