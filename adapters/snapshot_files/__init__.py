"""Snapshots and kept bodies: files that live exactly as long as the row that names them."""
