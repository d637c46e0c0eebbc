"""The trusted kernel: what must be believed. Standard library only; imports nothing else of this package.

Read in this order: `program` (what a program is), `terms` (normal form of sum-product expressions), `build`
(how terms are made), `derivative`, `meaning` (what each operation means), `signs` (definedness), `check` (what a
certificate must show).
"""
