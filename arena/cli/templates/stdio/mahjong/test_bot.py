import unittest

from bot import choose


class Choose(unittest.TestCase):
    def test_a_tile_alone_is_discarded(self):
        self.assertEqual(choose(["1c", "2c", "3c", "5b", "7d", "7d"]), "5b")
