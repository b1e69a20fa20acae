"""The files of an image: the container, its sections, the manifest, and how they are read."""
