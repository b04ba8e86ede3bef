"""What scores are worth: teams that cheat, defences of the judge, power and detectable differences."""
