"""Modules that stand for those of other packages."""
