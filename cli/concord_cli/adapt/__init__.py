"""`concord adapt`: an agent with configured peer addresses, behind a forward proxy of its own.

`connection` speaks HTTP, `trials` knows the trials of the agent and where their calls go, `proxies` relays the incoming
and outgoing requests of the agent, and `command` runs it between them.
"""
