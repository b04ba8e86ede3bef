"""`concord causes`: what traces show of their failures."""
