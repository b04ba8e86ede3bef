"""`concord explain`: what traces show of their failures."""
