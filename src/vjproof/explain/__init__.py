"""What a network's gradient at one photograph says: target, gradient, choices and notes in one record."""
