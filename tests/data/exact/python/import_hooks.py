import sys
class Finder:
    @staticmethod
    def find_spec(name, path, target=None):
        print("asked for", name)
sys.meta_path.insert(0, Finder)
try:
    import not_there_at_all
except ImportError as e:
    print(e)
