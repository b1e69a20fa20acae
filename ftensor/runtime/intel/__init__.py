"""Intel FPGAs and their emulator."""
