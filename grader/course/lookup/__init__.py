"""What can be looked up in a course, by any words or by the message of an error: found and ranked."""
