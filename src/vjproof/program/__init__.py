"""Programs recorded from layer code, run on numbers, and written as text; `kernel.program` defines their form.

Start with `recorder` (a Tape records what functions do to its arrays), then `interpreter`, then `text`.
"""
