"""What an op is: its row, and the list of all of them."""
