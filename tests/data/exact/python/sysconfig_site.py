import site, sysconfig, sys
print(site.ENABLE_USER_SITE, site.getsitepackages(), site.PREFIXES, sysconfig.get_platform(), sysconfig.get_python_version())
print(site.getuserbase().startswith(__import__("os").path.expanduser("~")), sysconfig.get_path("stdlib"))
