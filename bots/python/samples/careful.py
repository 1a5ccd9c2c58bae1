"""Plays Connect Four with care, in plain methods. Run it with `python careful.py`."""

from bot_arena import Bot, ConnectFourBot, GetPoint, Point

import thinking


class Careful(ConnectFourBot):
    def get_point(self, ask: GetPoint) -> Point:
        return thinking.careful(ask)


if __name__ == "__main__":
    Bot("careful", "1.0", max_games=16, can_resume=True).connect_four(Careful).main()
