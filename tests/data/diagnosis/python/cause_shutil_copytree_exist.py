import shutil, os
os.makedirs("d"); os.makedirs("e")
shutil.copytree("d", "e")
