# Lines as on Windows.
