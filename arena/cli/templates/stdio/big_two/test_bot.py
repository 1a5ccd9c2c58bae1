import unittest

from bot import choose


class Choose(unittest.TestCase):
    def test_the_lowest_card_that_beats_is_played(self):
        self.assertEqual(choose(["2S", "9H", "5C"], ["7D"], reversed=False), ["9H"])
