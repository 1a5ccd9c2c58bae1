// A brain as a bot: a server, and a process for each round, which is this program again.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>

#include "brain.h"
#include "game.hpp"
#include "descendants.hpp"

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

// Returns false if the connection failed. `at` is the function of the brain that is running.
bool play_on(const char*& at) {
    const std::unique_ptr<::Brain> brain(new_brain());
    say(READY);
    char line[LONGEST_LINE];
    for (;;) {
        const ssize_t length = recv(SOCKET, line, sizeof line, 0);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return length == 0;
        std::istringstream words(std::string(line, length));
        std::string word;
        int tile = 0;
        bool own = false;
        words >> word >> tile >> own;
        if (word == "draw") {
            at = "getDraw";
            brain->getDraw(::Tile(tile));
        } else if (word == "opp") {
            at = "getOppDiscard";
            brain->getOppDiscard(::Tile(tile));
        } else if (word == "discard") {
            at = "requestDiscard";
            say(std::to_string(int(brain->requestDiscard())));
        } else if (word == "win") {
            at = "requestWin";
            say(brain->requestWin(::Tile(tile), own) ? "1" : "0");
        }
    }
}

}  // namespace

bool plays(int count, char** arguments) {
    return count == 3 && std::strcmp(arguments[1], PLAY) == 0;
}

int play() {
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    const char* at = "the constructor of MyBrain";
    try {
        if (play_on(at)) return 0;
        std::fputs("the brain closed its connection\n", stderr);
        return CLOSED;
    } catch (...) {
        const std::string words = EXCEPTION + at + ": " + bot_arena::exception_words();
        std::fprintf(stderr, "%s\n", words.c_str());
        say(bot_arena::as_utf8(words, MOST_WORDS));
        return 1;
    }
}

}  // namespace brain_harness

static int own_stdout = -1;

// Before the initialisers of the student's globals, which run before main (of the lowest number
// that is not the compiler's own; glibc gives it what main gets).
[[gnu::constructor(101)]] static void begin(int count, char** arguments) {
    using namespace brain_harness;
    enter_sandbox();
    if (!plays(count, arguments)) {
        // What those print is a log, and the bot's own output is searched for where it listens.
        own_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        return;
    }
    // The parent may be killed while the brain thinks.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != std::atoi(arguments[2])) _exit(0);
}

int main(int count, char** arguments) {
    using namespace brain_harness;
    if (plays(count, arguments)) return play();
    std::cout.flush();
    std::fflush(stdout);
    if (own_stdout >= 0) {
        dup2(own_stdout, STDOUT_FILENO);
        close(own_stdout);
    }
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
