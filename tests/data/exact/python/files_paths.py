from pathlib import Path
import os, shutil, glob
Path("d/e").mkdir(parents=True)
Path("d/e/f.txt").write_text("x")
os.symlink("f.txt", "d/e/l")
print(sorted(str(p) for p in Path(".").rglob("*")), Path("d/e/l").is_symlink(), sorted(glob.glob("d/**", recursive=True)))
shutil.rmtree("d")
print(os.listdir("."), Path.cwd() == Path(os.getcwd()), Path("~").expanduser() == Path(os.environ["HOME"]))
os.stat("nothing")
