// The two ends of a game: the bot's, which is called back by the kit, and the brain's, which
// is a process of its own. They exchange short lines over a pair of sockets.
#pragma once

#include <memory>
#include <string>

#include "bot_arena/bot.hpp"

class Brain;

namespace brain_harness {

// The student's.
::Brain* new_brain();

// A round of Mahjong that is played by this same program in another process: each brain finds
// its globals fresh, and its crash is its own. The process is killed when the game is cut off.
class Game : public bot_arena::MahjongBot {
public:
    // Starts the process. It is ready when its brain is made.
    Game();
    ~Game() override;
    Game(const Game&) = delete;
    Game& operator=(const Game&) = delete;

    void get_draw(bot_arena::Tile tile) override;
    bot_arena::Tile request_discard(bot_arena::Limit limit) override;
    void get_opp_discard(bot_arena::Tile tile) override;
    bool request_win(bot_arena::Tile tile, bool is_self_draw, bot_arena::Limit limit) override;
    void game_over(const bot_arena::GameOver& over) override;

private:
    void tell(const std::string& line);
    int ask(const std::string& line);
    // Waits for a line, or for the end of the process: then there is none.
    std::string hear();
    // Kills the process where it has not ended; says how it did.
    std::string end();

    int pid_ = -1;
    int socket_ = -1;
};

// The other end: what that process does. `parent` is who has started it. Gives the exit code.
int play(int parent);

// The arguments that make the program play.
constexpr char PLAY[] = "--play-for";

}  // namespace brain_harness
