"""Citations that can be checked. The public names load on first use."""
