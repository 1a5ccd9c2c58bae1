import unittest

from bot import choose
from bot_arena import Square


class Choose(unittest.TestCase):
    def test_three_discs_are_more_than_one(self) -> None:
        board = bytearray(64)
        board[0] = 2
        board[1] = board[2] = board[3] = board[8] = 1
        self.assertEqual(choose(bytes(board)), Square(0, 4))
