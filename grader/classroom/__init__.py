"""A class: what it handed in, how it is graded, where the grades go. Learners have none of it."""
