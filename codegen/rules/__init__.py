"""What follows from what is written: resolved formulas, derived rules, refusals.  Knows the forms, no text."""
