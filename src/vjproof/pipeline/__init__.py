"""The whole flow of each command, a few lines each; no arguments are parsed and nothing is printed here."""
