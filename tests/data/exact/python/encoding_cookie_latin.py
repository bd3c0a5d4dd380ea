# A cookie, and a byte that is Latin-1.
