"""OpenCL C for Intel FPGAs, compiled by aoc or for Intel's emulator."""
