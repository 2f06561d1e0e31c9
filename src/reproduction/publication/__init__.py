"""Files about the project for archives and registers, and the RO-Crate of a run."""
