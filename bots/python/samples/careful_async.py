"""Plays Connect Four with care, by asyncio. Run it with `python careful_async.py`."""

from bot_arena import AsyncBot, ConnectFourBot, GetPoint, Point

import thinking


class Careful(ConnectFourBot):
    async def get_point(self, ask: GetPoint) -> Point:
        # It takes a fraction of a millisecond. What computes for longer would hold up
        # the other games: `await asyncio.to_thread(thinking.careful, ask)`.
        return thinking.careful(ask)


if __name__ == "__main__":
    AsyncBot("careful", "1.0", max_games=16, can_resume=True).connect_four(Careful).main()
