"""Draws and tables on disk."""
