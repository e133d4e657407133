"""What an algorithm can be told: each option declared once, and the parts that are made from them.

`declared` is the table of options, `common` and `groups` turn what was told into parts, `registry` reads the
signatures of the algorithms, `auto_model` is what `auto` starts from.
"""
