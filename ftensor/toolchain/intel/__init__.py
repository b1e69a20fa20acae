"""OpenCL C for Intel FPGAs, and aoc or its emulator."""
