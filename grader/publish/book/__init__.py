"""The book: chapters, statements and indexes of a course as a site that needs no server. No answers in it."""
