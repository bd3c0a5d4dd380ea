import sys, os
import helper
print(__file__, sys.argv, sys.path[0], os.getcwd(), helper.x, helper.__file__)
