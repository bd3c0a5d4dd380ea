import os

os.rename("draft.txt", "final.txt")
