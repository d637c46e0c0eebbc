"""Networks written as ONNX graphs, line by line from the recorded program.

Start with `graph` (nodes and constants), then `lines` (what each operation of a program becomes), then `export`.
"""
