"""`concord replay`: plays a recorded trial on from one of its rounds, with a change, to see whether it would turn."""
