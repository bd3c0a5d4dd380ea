import getpass, os, pwd
print(getpass.getuser(), os.getuid() == os.geteuid())
