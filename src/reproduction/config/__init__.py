"""The configuration as a whole: its model, the settings from the papers, and its description."""
