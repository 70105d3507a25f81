"""Reading what a class handed in."""
