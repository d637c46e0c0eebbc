"""The Vision Transformer: sizes and choices, parameters, the seed's chain, and the chain that runs."""
