import unittest

from bot import choose


class Choose(unittest.TestCase):
    def test_the_middle_comes_first(self):
        self.assertEqual(choose([(8, 0), (7, 4), (8, 8)], columns=9), (7, 4))
