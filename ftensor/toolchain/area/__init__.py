"""The area model: a kernel's share of a board, from tables and from the text that v++ compiles."""
