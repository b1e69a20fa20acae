"""Running compilers: jobs side by side, a build folder's state, progress."""
