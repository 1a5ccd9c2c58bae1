// A brain as a bot: a server, and a process for each round, which is this program again.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <sstream>

#include "brain.h"
#include "game.hpp"
#include "kin.hpp"

// What the bot calls itself.
extern const char* const BRAIN_NAME;

namespace brain_harness {

// The student's.
::Brain* new_brain();

namespace {

constexpr int SOCKET = 3;
constexpr std::size_t LONGEST_LINE = 64;
constexpr std::size_t MOST_WORDS = 800;

void say(const std::string& line) { send(SOCKET, line.data(), line.size(), MSG_NOSIGNAL); }

void play_on() {
    const std::unique_ptr<::Brain> brain(new_brain());
    say("ready");
    char line[LONGEST_LINE];
    for (ssize_t length; (length = recv(SOCKET, line, sizeof line, 0)) > 0;) {
        std::istringstream words(std::string(line, length));
        std::string word;
        int tile = 0;
        bool own = false;
        words >> word >> tile >> own;
        if (word == "draw") brain->getDraw(::Tile(tile));
        if (word == "opp") brain->getOppDiscard(::Tile(tile));
        if (word == "discard") say(std::to_string(int(brain->requestDiscard())));
        if (word == "win") say(brain->requestWin(::Tile(tile), own) ? "1" : "0");
    }
}

}  // namespace

bool plays(int count, char** arguments) {
    return count == 3 && std::strcmp(arguments[1], PLAY) == 0;
}

int play() {
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    std::string words;
    try {
        play_on();
        return 0;
    } catch (const std::exception& error) {
        words = std::string("threw: ") + error.what();
    } catch (...) {
        words = "threw something that is no std::exception";
    }
    std::fprintf(stderr, "the brain %s\n", words.c_str());
    say(bot_arena::as_utf8(words, MOST_WORDS));
    return 1;
}

}  // namespace brain_harness

// Before the initialisers of the student's globals, which run before main (of the lowest number
// that is not the compiler's own; glibc gives it what main gets).
[[gnu::constructor(101)]] static void begin(int count, char** arguments) {
    using namespace brain_harness;
    close_in();
    if (!plays(count, arguments)) return;
    // Who started this process may be killed while the brain thinks.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != std::atoi(arguments[2])) _exit(0);
}

int main(int count, char** arguments) {
    using namespace brain_harness;
    if (plays(count, arguments)) return play();
    std::unique_ptr<Reserve> reserve;
    try {
        reserve = std::make_unique<Reserve>();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "could not begin: %s\n", error.what());
        return 1;
    }
    // One round at a time: the memory of more would be added up. A referee that plays more
    // rounds at once starts more of us.
    bot_arena::Bot bot(BRAIN_NAME, "1.0");
    return bot
        .mahjong([&reserve](const bot_arena::GameStart&) { return std::make_unique<Game>(*reserve); })
        .main();
}
