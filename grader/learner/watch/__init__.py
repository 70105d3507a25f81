"""`kata watch`: judges each file as it is saved, and shows what came of it."""
