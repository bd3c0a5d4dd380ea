import locale, sys
print(locale.getlocale(), locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(), locale.localeconv()["decimal_point"], sys.flags.utf8_mode)
print(locale.setlocale(locale.LC_ALL, ""), locale.getencoding())
