"""Op rows (definitions of ops) and the catalogue of all rows."""
