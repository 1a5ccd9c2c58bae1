// What the tests of the kit share: its process, and what a referee says to it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "games/connect_four/v1/connect_four.grpc.pb.h"

namespace fs = std::filesystem;
namespace c4 = games::connect_four::v1;

// Longer than anything here takes, however busy the machine is.
constexpr std::chrono::seconds LONG{40};

// A folder of its own for each test, which is where it works too: a socket's path is short.
class Kit : public testing::Test {
protected:
    void SetUp() override {
        home_ = fs::current_path();
        std::string name = fs::temp_directory_path() / "kit-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        fs::current_path(folder_);
    }
    void TearDown() override {
        fs::current_path(home_);
        fs::remove_all(folder_);
    }

private:
    fs::path home_;
    fs::path folder_;
};

// A process of the subject.
class Process {
public:
    explicit Process(const char* listen, const char* argument = nullptr) {
        int out[2];
        int err[2];
        if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::abort();
        pid_ = fork();
        if (pid_ == 0) {
            dup2(out[1], STDOUT_FILENO);
            dup2(err[1], STDERR_FILENO);
            if (listen != nullptr) setenv("BOT_LISTEN", listen, 1);
            if (listen == nullptr) unsetenv("BOT_LISTEN");
            execl(SUBJECT, SUBJECT, argument, nullptr);
            _exit(127);
        }
        close(out[1]);
        close(err[1]);
        out_ = out[0];
        err_ = err[0];
    }

    ~Process() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        close(out_);
        close(err_);
    }

    // The next line of its standard output.
    std::string line() {
        std::string line;
        for (char c;;) {
            pollfd ready{out_, POLLIN, 0};
            if (poll(&ready, 1, 1000 * static_cast<int>(LONG.count())) <= 0) return line + "…";
            if (read(out_, &c, 1) != 1) return line + "(end)";
            if (c == '\n') return line;
            line += c;
        }
    }

    std::vector<std::string> lines(int count) {
        std::vector<std::string> all;
        for (int i = 0; i < count; ++i) all.push_back(line());
        return all;
    }

    // Where it says that it listens, without the words.
    std::string listening() {
        const std::string words = "listening on ";
        const std::string said = line();
        EXPECT_EQ(said.substr(0, words.size()), words);
        return said.size() < words.size() ? said : said.substr(words.size());
    }

    void signal(int which) { kill(pid_, which); }

    // Its exit code once it has ended; minus the signal if it was that.
    int exit_code() {
        int status = 0;
        EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

    // What it has written to standard error, after its end.
    std::string errors() {
        std::string all;
        for (char c; read(err_, &c, 1) == 1;) all += c;
        return all;
    }

private:
    pid_t pid_;
    int out_;
    int err_;
};

template <class Call>
Call start(const std::string& id) {
    Call call;
    call.set_number(0);
    call.mutable_start()->set_game_id(id);
    call.mutable_start()->set_seat(1);
    return call;
}

template <class Call>
Call over(const std::string& reason) {
    Call call;
    call.mutable_over()->set_reason(reason);
    return call;
}

// An empty board of 9 rows and 10 columns, the leftmost of which is full.
inline c4::ConnectFourCall get_point(int number) {
    c4::ConnectFourCall call;
    call.set_number(number);
    call.mutable_limit()->set_seconds(2);
    call.mutable_limit()->set_nanos(7);
    auto& ask = *call.mutable_get_point();
    ask.set_m(9);
    ask.set_n(10);
    ask.set_top(std::string(1, 0) + std::string(9, 9));
    ask.set_board(std::string(90, 0));
    ask.set_last_x(-1);
    ask.set_last_y(-1);
    ask.set_no_x(3);
    ask.set_no_y(4);
    return call;
}
