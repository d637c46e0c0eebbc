"""The trusted kernel: what must be believed. Standard library only; imports nothing else of this package.

Read in this order: `program` (what a program is), `atoms`, `functions` and `terms` (the normal form of sum-product
expressions, and their derivatives), `meaning` (what each operation means), `signs` (definedness), `check` (two
programs compared), `certificate` (what a document must show).
"""
