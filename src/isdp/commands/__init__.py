"""The commands as Python functions, which read files and write a folder of files."""
