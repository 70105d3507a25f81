"""The warm parent and its forked children, which judge one answer each."""
