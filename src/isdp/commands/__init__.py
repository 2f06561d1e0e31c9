"""The commands of the command line as Python functions: files in, a folder of files out."""
