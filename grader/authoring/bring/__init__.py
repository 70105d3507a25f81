"""`kata capstone --bring`: a capstone out of an author's own repository and a list of patches."""
