import matplotlib, os
print(matplotlib.get_configdir() == os.path.join(os.environ["HOME"], ".config/matplotlib"), matplotlib.get_cachedir() == os.path.join(os.environ["HOME"], ".cache/matplotlib"), "MPLCONFIGDIR" in os.environ, matplotlib.matplotlib_fname())
