// A round of Mahjong: the kit's calls become lines to the brain's process.
#pragma once

#include <memory>
#include <string>

#include "bot_arena/bot.hpp"
#include "process.hpp"

namespace brain_harness {

// The process is killed when the game is cut off.
class Game : public bot_arena::MahjongBot {
public:
    // Takes the process that waits. Its brain is made then.
    explicit Game(Reserve& reserve);
    ~Game() override;
    Game(const Game&) = delete;
    Game& operator=(const Game&) = delete;

    void get_draw(bot_arena::Tile tile) override;
    bot_arena::Tile request_discard(bot_arena::Limit limit) override;
    void get_opp_discard(bot_arena::Tile tile) override;
    bool request_win(bot_arena::Tile tile, bool is_self_draw, bot_arena::Limit limit) override;
    void game_over(const bot_arena::GameOver& over) override;

private:
    int ask(const std::string& line);
    // Ends the process and has the next one started.
    void end();

    Reserve& reserve_;
    std::unique_ptr<Process> process_;
    bool ended_ = false;
};

}  // namespace brain_harness
