import shutil, os
os.makedirs("d")
shutil.copy("d", "e")
