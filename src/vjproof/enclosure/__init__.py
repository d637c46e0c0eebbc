"""The exact value of a program on exact inputs, enclosed in balls."""
