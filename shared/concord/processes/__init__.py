"""A pool of processes for work whose cost somebody else chooses: the texts of agents, and the expressions of clients.

No thread can be ended, and an event loop waits for each function. A process can be killed.
"""

from concord.processes.pool import (
    Calls,
    CallsInThread,
    LimitExceededError,
    ProcessDiedError,
    ProcessPool,
    TooSlowError,
)

__all__ = ["Calls", "CallsInThread", "LimitExceededError", "ProcessDiedError", "ProcessPool", "TooSlowError"]
