#include "game.hpp"

#include <charconv>

namespace brain_harness {
namespace {

// The most that is quoted of an answer.
constexpr std::size_t MOST_HEARD = 100;

}  // namespace

Game::Game(Reserve& reserve) : reserve_(reserve), process_(reserve.take()) {
    try {
        process_->wait_until_ready();
    } catch (...) {
        // A constructor that throws has no destructor.
        end();
        throw;
    }
}

Game::~Game() { end(); }

void Game::get_draw(bot_arena::Tile tile) { process_->tell("draw " + std::to_string(tile)); }

void Game::get_opp_discard(bot_arena::Tile tile) { process_->tell("opp " + std::to_string(tile)); }

bot_arena::Tile Game::request_discard(bot_arena::Limit) {
    return static_cast<bot_arena::Tile>(ask("discard"));
}

bool Game::request_win(bot_arena::Tile tile, bool is_self_draw, bot_arena::Limit) {
    return ask("win " + std::to_string(tile) + (is_self_draw ? " 1" : " 0")) != 0;
}

void Game::game_over(const bot_arena::GameOver&) {
    // The brain's destructor may have something to print.
    process_->dismiss();
    // Before the stream ends: the next round may follow at once.
    end();
}

int Game::ask(const std::string& line) {
    process_->tell(line);
    const std::string heard = process_->hear();
    int number = 0;
    const char* const end = heard.data() + heard.size();
    const auto [rest, error] = std::from_chars(heard.data(), end, number);
    if (error != std::errc() || rest != end) {
        throw bot_arena::GameFailed("the brain answered what is no number: \"" +
                                    bot_arena::as_utf8(heard, MOST_HEARD) + "\"");
    }
    return number;
}

void Game::end() {
    process_->end();
    if (!ended_) reserve_.renew();
    ended_ = true;
}

}  // namespace brain_harness
