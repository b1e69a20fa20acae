"""How long a program would take on a board: a model, computed from plans and data sheets."""
