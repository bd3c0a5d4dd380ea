'{} {}'.format(1)
