class K(KeyboardInterrupt): pass
raise K("sub")
