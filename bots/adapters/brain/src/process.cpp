// The bot's end of a brain's process. It has no clock: the referee measures time and
// cancels the game.
#include "process.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "bot_arena/bot.hpp"
#include "descendants.hpp"

extern char** environ;

namespace brain_harness {
namespace {

// How often a wait looks whether the game was cut off.
constexpr int POLL_MS = 10;
// How long a new round waits for the process of one that was cut off to end.
constexpr std::chrono::seconds END_WAIT{1};
// The number that the brain's process knows its socket by.
constexpr int BRAINS_SOCKET = 3;
constexpr std::size_t LONGEST_LINE = 4096;

void check(int error, const char* what) {
    if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

Process::Process() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        check(errno, "could not make a pair of sockets");
    }
    socket_ = ends[0];
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], BRAINS_SOCKET);
    // Both are its log, but the bot's own output is searched for where it listens.
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    // The bot's own threads have more signals blocked than the brain should. But a
    // signal to the whole group is for the bot, which lets rounds go on for a while.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    posix_spawnattr_setsigmask(&attributes, &stop);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::string program = "brain";
    std::string play = PLAY;
    std::string parent = std::to_string(getpid());
    char* arguments[] = {program.data(), play.data(), parent.data(), nullptr};
    int error = 0;
    pid_ = Descendants::of_this_process().start([&] {
        int pid = -1;
        error = posix_spawn(&pid, "/proc/self/exe", &files, &attributes, arguments, environ);
        return error == 0 ? pid : -1;
    });
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (error != 0) {
        close(socket_);
        check(error, "could not start a process for the brain");
    }
}

Process::~Process() {
    end();
    close(socket_);
}

void Process::wait_until_ready() {
    if (!ready_ && hear() != READY) {
        throw bot_arena::GameFailed("the brain wrote to the connection of its process");
    }
    ready_ = true;
}

void Process::tell(const std::string& line) {
    while (send(socket_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EINTR) && !has_ended() && !bot_arena::cancelled()) {
        pollfd writable{socket_, POLLOUT, 0};
        poll(&writable, 1, POLL_MS);
    }
}

std::string Process::hear() {
    for (bool open = true;;) {
        // Checked before reading: what it wrote before it ended can then be read. Processes that
        // it has started may keep its socket open.
        const bool ended = has_ended();
        pollfd readable{open ? socket_ : -1, POLLIN, 0};
        if (poll(&readable, 1, ended ? 0 : POLL_MS) > 0) {
            char line[LONGEST_LINE];
            const auto length = recv(socket_, line, sizeof line, MSG_DONTWAIT);
            // Where it has not read all before it ended, the first thing that is read is an error.
            if (length < 0) continue;
            const std::string heard(line, length);
            if (heard.rfind(EXCEPTION, 0) == 0) throw bot_arena::GameFailed(heard);
            if (length > 0 || (readable.revents & POLLHUP) == 0) return heard;
            // A closed one: how it ended says more.
            open = false;
        } else if (ended) {
            throw bot_arena::GameFailed(end());
        }
        if (bot_arena::cancelled()) throw bot_arena::GameFailed("the game was cut off");
    }
}

void Process::dismiss() {
    shutdown(socket_, SHUT_WR);
    while (!has_ended() && !bot_arena::cancelled()) poll(nullptr, 0, POLL_MS);
}

bool Process::has_ended() {
    if (pid_ < 0) return true;
    siginfo_t ended{};
    // Its status is left for `end`.
    return waitid(P_PID, pid_, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid_;
}

std::string Process::end() {
    if (pid_ < 0) return "the brain has ended";
    // One that is ending keeps its status.
    kill(pid_, SIGKILL);
    const int status = Descendants::of_this_process().reap(pid_);
    pid_ = -1;
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        const char* const name = sigabbrev_np(signal);
        return "the brain was killed by SIG" + std::string(name != nullptr ? name : "?") + " (" +
               strsignal(signal) + ")";
    }
    if (WEXITSTATUS(status) == CLOSED) return "the brain closed its connection";
    return "the brain exited with code " + std::to_string(WEXITSTATUS(status));
}

Starter::Starter() {
    // Signals are for the main thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { work(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Starter::~Starter() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    ordered_.notify_one();
    thread_.join();
}

std::unique_ptr<Process> Starter::start() {
    std::packaged_task<std::unique_ptr<Process>()> order([] { return std::make_unique<Process>(); });
    auto started = order.get_future();
    {
        std::lock_guard lock(mutex_);
        order_ = std::move(order);
    }
    ordered_.notify_one();
    return started.get();
}

void Starter::work() {
    for (std::unique_lock lock(mutex_);;) {
        ordered_.wait(lock, [this] { return stopping_ || order_.valid(); });
        if (stopping_) return;
        std::exchange(order_, {})();
    }
}

Reserve::Reserve() : waiting_(starter_.start()) { waiting_->wait_until_ready(); }

std::unique_ptr<Process> Reserve::take() {
    std::unique_lock lock(mutex_);
    // The kit lets one round in at a time. So one that still plays was cut off, and where its
    // process and a new one were there at once, it would look as if the bot had grown.
    renewed_.wait_for(lock, END_WAIT, [this] { return playing_ == 0; });
    auto taken = std::move(waiting_);
    if (taken == nullptr || taken->has_ended()) {
        taken.reset();
        taken = starter_.start();
    }
    ++playing_;
    return taken;
}

void Reserve::renew() {
    std::lock_guard lock(mutex_);
    --playing_;
    try {
        if (waiting_ == nullptr) waiting_ = starter_.start();
    } catch (const std::system_error& error) {
        // The next round will try again.
        std::fprintf(stderr, "%s\n", error.what());
    }
    renewed_.notify_all();
}

}  // namespace brain_harness
