"""The MCP server at `/mcp`, over streamable HTTP and with the API keys of the REST API.

Each operation, each state and each query of a modality is a tool. A caller sees the tools that its key permits.
"""

from concord_environment.mcp.endpoint import PATH, McpEndpoint

__all__ = ["PATH", "McpEndpoint"]
