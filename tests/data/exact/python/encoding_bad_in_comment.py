# A bad byte in a comment.
