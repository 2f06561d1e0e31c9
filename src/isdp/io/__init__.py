"""Reading and writing of tables, draws and certificates."""
