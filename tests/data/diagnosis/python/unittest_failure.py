import unittest


def add(a, b):
    return a - b


class AddTest(unittest.TestCase):
    def test_small(self):
        # The first that fails is shown.
        self.assertEqual(add(2, 2), 4)


unittest.main()
