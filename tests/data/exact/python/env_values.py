import os, posix
print(os.environ["MY_VAR"], repr(os.environ["EMPTY"]), os.environb[b"MY_VAR"], os.getenv("NOT_THERE", "default"))
print(sorted(k for k in os.environ if k not in ("PWD", "HOME")))
print({k.encode(): v.encode("utf8", "surrogateescape") for k, v in os.environ.items()} == posix.environ, len(posix.environ))
os.environ["NEW"] = "1"
del os.environ["EMPTY"]
os.system("echo $NEW $MY_VAR ${EMPTY-unset}; env | grep -c -i belljar; env | grep PRELOAD; env | grep -v '^_=' | cut -d= -f1 | sort")
print(list(os.environ)[:3])
