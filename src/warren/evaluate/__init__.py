"""History to verdict: Burrow's rules over all windows at once."""
