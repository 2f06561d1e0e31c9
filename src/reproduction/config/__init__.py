"""Configuration: its model, the settings from the papers, and its description."""
