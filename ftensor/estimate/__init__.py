"""The time of a program on a board, from a model of launch plans and data sheets."""
