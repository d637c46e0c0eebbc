"""The commands: arguments and printing, one module for each family; `vjproof.cli` puts them together."""
