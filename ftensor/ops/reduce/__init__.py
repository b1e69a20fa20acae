"""Ops that fold dims away."""
