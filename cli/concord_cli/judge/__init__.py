"""`concord evaluate --rejudge`: judges saved traces again, and measures how far the judge agrees with labels."""
