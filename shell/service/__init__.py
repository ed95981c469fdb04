"""One collection runtime for programs and assistants: the same four read-only operations over REST and MCP, and pages."""
