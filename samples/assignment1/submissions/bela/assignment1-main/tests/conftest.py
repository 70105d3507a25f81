# I have put my fixtures into the tests.
