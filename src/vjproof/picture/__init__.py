"""A photograph, where the gradient is large, and which way it points, in one PNG."""
