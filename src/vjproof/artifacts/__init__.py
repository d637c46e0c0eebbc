"""Networks written as programs that run without this package, and read back from there."""
