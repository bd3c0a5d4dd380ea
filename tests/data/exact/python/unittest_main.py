import unittest
class T(unittest.TestCase):
    def test_good(self): self.assertEqual(1, 1)
    def test_bad(self): self.assertEqual([1, 2], [1, 3])
    @unittest.skip("why not")
    def test_skip(self): pass
    def test_error(self): 1 / 0
import sys, re
class Out:
    def write(self, s): sys.__stderr__.write(re.sub(r"in \d+\.\d+s", "in Xs", s))
    def flush(self): pass
unittest.main(testRunner=unittest.TextTestRunner(stream=Out()), verbosity=2)
