"""Geometry: pure functions that turn shapes and strides of operands into coalesced loop nests."""
