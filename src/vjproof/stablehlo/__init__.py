"""Networks written as StableHLO, by way of JAX and its MLIR bindings."""
