import sys, locale
print(sys.stdout.encoding, sys.getfilesystemencoding(), locale.setlocale(locale.LC_CTYPE), sys.flags.utf8_mode)
