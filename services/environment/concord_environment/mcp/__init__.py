"""The same calls as MCP tools, under the same keys."""
