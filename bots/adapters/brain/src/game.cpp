// The bot's end of a game: starts, asks and ends the brain's process. It has no clock: how long
// an answer may take is the referee's affair, who cancels the game.
#include "game.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace brain_harness {
namespace {

// How often a wait looks whether the game was cut off.
constexpr int LOOK_MS = 10;
// The number that the brain's process knows its socket by.
constexpr int BRAINS_SOCKET = 3;
constexpr std::size_t LONGEST_LINE = 4096;

void check(int error, const char* what) {
    if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

Game::Game() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        check(errno, "could not make a pair of sockets");
    }
    socket_ = ends[0];
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], BRAINS_SOCKET);
    // The bot's own threads have some signals blocked, and the brain must not.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::string program = "brain";
    std::string play = PLAY;
    std::string parent = std::to_string(getpid());
    char* arguments[] = {program.data(), play.data(), parent.data(), nullptr};
    const int error =
        posix_spawn(&pid_, "/proc/self/exe", &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (error != 0) {
        pid_ = -1;
        close(socket_);
        check(error, "could not start a process for the game");
    }
    try {
        hear();
    } catch (...) {
        // A constructor that throws has no destructor.
        end();
        close(socket_);
        throw;
    }
}

Game::~Game() {
    end();
    close(socket_);
}

void Game::get_draw(bot_arena::Tile tile) { tell("draw " + std::to_string(tile)); }

void Game::get_opp_discard(bot_arena::Tile tile) { tell("opp " + std::to_string(tile)); }

bot_arena::Tile Game::request_discard(bot_arena::Limit) {
    return static_cast<bot_arena::Tile>(ask("discard"));
}

bool Game::request_win(bot_arena::Tile tile, bool is_self_draw, bot_arena::Limit) {
    return ask("win " + std::to_string(tile) + (is_self_draw ? " 1" : " 0")) != 0;
}

void Game::game_over(const bot_arena::GameOver&) {
    // The brain's destructor may have something to print.
    shutdown(socket_, SHUT_WR);
    while (pid_ > 0 && !bot_arena::cancelled()) {
        if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
            pid_ = -1;
        } else {
            poll(nullptr, 0, LOOK_MS);
        }
    }
}

void Game::tell(const std::string& line) {
    // That the process has ended is found out when it is next asked.
    while (send(socket_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EINTR) && !bot_arena::cancelled()) {
        pollfd writable{socket_, POLLOUT, 0};
        poll(&writable, 1, LOOK_MS);
    }
}

int Game::ask(const std::string& line) {
    tell(line);
    return std::stoi(hear());
}

std::string Game::hear() {
    pollfd readable{socket_, POLLIN, 0};
    while (poll(&readable, 1, LOOK_MS) <= 0) {
        if (bot_arena::cancelled()) throw std::runtime_error("the game was cut off");
    }
    char line[LONGEST_LINE];
    const auto length = recv(socket_, line, sizeof line, 0);
    if (length <= 0) throw std::runtime_error(end());
    const std::string heard(line, length);
    if (heard.rfind("threw", 0) == 0) throw std::runtime_error("the brain " + heard);
    return heard;
}

std::string Game::end() {
    if (pid_ < 0) return "the brain has ended";
    // One that is ending keeps its status.
    kill(pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) {
        return std::string("the brain was killed by a signal: ") + strsignal(WTERMSIG(status));
    }
    return "the brain exited with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace brain_harness
