"""From a photograph to the array that the network reads, with every choice declared."""
