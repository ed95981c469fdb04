"""Models that turn texts into vectors: one that comes with a package, and those of servers."""
