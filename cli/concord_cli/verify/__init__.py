"""`concord verify` and `concord sign`: whether results follow from their bundles, and who vouches for them."""
