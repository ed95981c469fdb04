"""Fetching pages: one look-up, judged addresses, bounded exchanges."""
