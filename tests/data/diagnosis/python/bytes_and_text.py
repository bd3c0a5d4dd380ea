b'a'+'b'
