# Not UTF-8, and no cookie.
