"""The area model: what kernels take of a board, by tables and by the text that v++ gets."""
