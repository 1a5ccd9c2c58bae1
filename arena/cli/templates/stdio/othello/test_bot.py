import unittest

from bot import choose


class Choose(unittest.TestCase):
    def test_three_discs_are_more_than_one(self):
        board = [0] * 64
        board[0] = 2
        board[1] = board[2] = board[3] = board[8] = 1
        self.assertEqual(choose(board), (0, 4))
