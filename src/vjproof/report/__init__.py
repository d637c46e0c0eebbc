"""What commands say to people and to machines."""
