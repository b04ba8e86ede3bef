"""`concord adapt`: runs an agent with configured peer addresses behind two proxies.

`connection` speaks HTTP, `trials` has the trials of the agent and the gateway's addresses of its peers, `proxies`
relays the incoming and outgoing requests of the agent, and `command` runs the agent between the proxies.
"""
