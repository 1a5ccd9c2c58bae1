// A brain that never answers, seen from a referee: its processes, and what ends them.
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "games/mahjong/v1/mahjong.grpc.pb.h"

namespace {

namespace mj = games::mahjong::v1;

// Longer than anything here takes, however busy the machine is.
constexpr std::chrono::seconds LONG{40};

// The processes that this one has started and that are running.
std::vector<int> children(int parent) {
    std::vector<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream stat(entry.path() / "stat");
        std::string pid, name, state;
        int ppid = 0;
        // Names are without spaces here.
        if (stat >> pid >> name >> state >> ppid && ppid == parent && state != "Z") {
            found.push_back(std::stoi(pid));
        }
    }
    return found;
}

// The processes of this program that are running, whosoever's children they are.
std::set<int> running(const char* program) {
    std::set<int> found;
    // As /proc has it, with no symbolic link on the way.
    const auto real = std::filesystem::canonical(program);
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::error_code error;
        if (std::filesystem::read_symlink(entry.path() / "exe", error) == real) {
            found.insert(std::stoi(entry.path().filename()));
        }
    }
    return found;
}

template <class Condition>
bool comes_true(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + LONG;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

// The brain `loop` as a bot that listens.
class Resting : public testing::Test {
protected:
    void SetUp() override { start(LOOP); }

    void start(const char* program) {
        int out[2];
        ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
        bot_ = fork();
        if (bot_ == 0) {
            // As the arena does.
            setpgid(0, 0);
            dup2(out[1], STDOUT_FILENO);
            setenv("BOT_LISTEN", "tcp:127.0.0.1:0", 1);
            execl(program, program, nullptr);
            _exit(127);
        }
        close(out[1]);
        std::string said;
        for (char c; read(out[0], &c, 1) == 1 && c != '\n';) said += c;
        out_ = out[0];
        const std::string words = "listening on tcp:";
        ASSERT_EQ(said.substr(0, words.size()), words);
        stub_ = mj::MahjongBot::NewStub(
            grpc::CreateChannel(said.substr(words.size()), grpc::InsecureChannelCredentials()));
    }

    void TearDown() override {
        if (bot_ > 0) {
            kill(bot_, SIGKILL);
            waitpid(bot_, nullptr, 0);
        }
        close(out_);
    }

    static std::string path_of(int pid) { return "/proc/" + std::to_string(pid); }

    // It runs no more, whether or not somebody has asked for its status.
    static bool ended(int pid) {
        std::ifstream stat(path_of(pid) + "/stat");
        std::string number, name, state;
        return !(stat >> number >> name >> state) || state == "Z";
    }

    // It has nothing to do, and not for this moment only.
    static bool sleeps(int pid) {
        for (int look = 0; look < 20; ++look) {
            std::ifstream stat(path_of(pid) + "/stat");
            std::string number, name, state;
            if (!(stat >> number >> name >> state) || state != "S") return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return true;
    }

    // Opens so many streams beside a round that is being played: they are refused.
    void knock(int streams) {
        std::vector<std::thread> knocking;
        for (int i = 0; i < streams; ++i) {
            knocking.emplace_back([this] {
                grpc::ClientContext context;
                context.set_deadline(std::chrono::system_clock::now() + LONG);
                const auto status = stub_->Play(&context)->Finish();
                EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
            });
        }
        for (auto& thread : knocking) thread.join();
    }

    // Begins a round and cuts it off or ends it; gives the processes that there were meanwhile.
    std::vector<int> play(bool to_its_end, int others = 0) {
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + LONG);
        const auto stream = stub_->Play(&context);
        mj::MahjongCall call;
        call.set_number(0);
        call.mutable_start();
        mj::MahjongAnswer ready;
        EXPECT_TRUE(stream->Write(call));
        EXPECT_TRUE(stream->Read(&ready));
        EXPECT_EQ(ready.ready().bot(), "loop");
        EXPECT_EQ(ready.ready().max_games(), 1u);
        EXPECT_FALSE(ready.ready().can_resume());
        const auto playing = children(bot_);
        knock(others);
        if (to_its_end) {
            mj::MahjongCall over;
            over.mutable_over();
            EXPECT_TRUE(stream->Write(over));
            // Its thread is there until the stream ends, and the next process has long begun.
            EXPECT_TRUE(comes_true([&] {
                const auto next = children(bot_);
                return next.size() == 1 && next != playing && sleeps(next.front());
            }));
            stream->WritesDone();
            EXPECT_TRUE(stream->Finish().ok());
        } else {
            context.TryCancel();
            stream->Finish();
        }
        return playing;
    }

    int bot_ = -1;
    int out_ = -1;
    std::unique_ptr<mj::MahjongBot::Stub> stub_;
};

// The brain `daemon`, which starts processes that want to stay.
class Settling : public Resting {
protected:
    void SetUp() override { start(DAEMON); }
    void TearDown() override {
        if (bot_ > 0) kill(-bot_, SIGKILL);
        Resting::TearDown();
    }
};

// At its third question.
class Looping : public Resting {
protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Resting::SetUp());
        context_.set_deadline(std::chrono::system_clock::now() + 2 * LONG);
        stream_ = stub_->Play(&context_);
        ask([](mj::MahjongCall& call) { call.mutable_start(); });
        for (int i = 0; i < 2; ++i) {
            mj::MahjongCall draw;
            for (int tiles = i == 0 ? 14 : 1; tiles > 0; --tiles) {
                draw.mutable_get_draw()->add_tiles(mj::TILE_C1);
            }
            stream_->Write(draw);
            ask([](mj::MahjongCall& call) { call.mutable_request_discard(); });
        }
        mj::MahjongCall last;
        last.mutable_get_draw()->add_tiles(mj::TILE_C1);
        stream_->Write(last);
        last.mutable_request_discard();
        last.set_number(9);
        stream_->Write(last);
        const auto brains = children(bot_);
        ASSERT_EQ(brains.size(), 1u);
        brain_ = brains.front();
        // A process that loops uses time; one that waits does not.
        ASSERT_TRUE(comes_true([&] { return ticks(brain_) >= 3; }));
    }

    void TearDown() override {
        context_.TryCancel();
        if (stream_ != nullptr) stream_->Finish();
        Resting::TearDown();
    }

    template <class Fill>
    void ask(Fill fill) {
        mj::MahjongCall call;
        call.set_number(number_++);
        fill(call);
        mj::MahjongAnswer answer;
        ASSERT_TRUE(stream_->Write(call));
        ASSERT_TRUE(stream_->Read(&answer));
    }

    // Its time on a processor.
    static long ticks(int pid) {
        std::ifstream stat(path_of(pid) + "/stat");
        std::string skipped;
        for (int i = 0; i < 13; ++i) stat >> skipped;
        long ticks = 0;
        stat >> ticks;
        return ticks;
    }

    int brain_ = -1;
    unsigned number_ = 0;
    grpc::ClientContext context_;
    std::unique_ptr<grpc::ClientReaderWriter<mj::MahjongCall, mj::MahjongAnswer>> stream_;
};

}  // namespace

TEST_F(Resting, has_one_process_that_plays_the_next_round) {
    auto waiting = children(bot_);
    ASSERT_EQ(waiting.size(), 1u);
    for (int round = 0; round < 5; ++round) {
        // The server has threads for the others, and then too many: one that has served a
        // round ends.
        EXPECT_EQ(play(true, round < 3 ? 5 : 0), waiting);
        const auto next = children(bot_);
        ASSERT_EQ(next.size(), 1u);
        EXPECT_NE(next, waiting);
        waiting = next;
    }
}

TEST_F(Resting, never_has_two_where_rounds_are_cut_off) {
    for (int round = 0; round < 30; ++round) EXPECT_EQ(play(false).size(), 1u);
    EXPECT_TRUE(comes_true([&] { return children(bot_).size() == 1; }));
}

TEST_F(Resting, replaces_a_process_that_dies_while_it_waits) {
    const auto waiting = children(bot_);
    ASSERT_EQ(waiting.size(), 1u);
    kill(waiting.front(), SIGKILL);
    ASSERT_TRUE(comes_true([&] { return ended(waiting.front()); }));
    const auto playing = play(true);
    ASSERT_EQ(playing.size(), 1u);
    EXPECT_NE(playing, waiting);
    // And nobody waits for its status.
    EXPECT_FALSE(std::filesystem::exists(path_of(waiting.front())));
}

TEST_F(Resting, ends_the_process_that_waits_when_it_stops_or_is_killed) {
    for (int signal : {SIGTERM, SIGINT, SIGKILL}) {
        const auto waiting = children(bot_);
        ASSERT_EQ(waiting.size(), 1u);
        kill(bot_, signal);
        int status = 0;
        EXPECT_EQ(waitpid(bot_, &status, 0), bot_);
        bot_ = -1;
        if (signal != SIGKILL) {
            EXPECT_TRUE(WIFEXITED(status));
            EXPECT_EQ(WEXITSTATUS(status), 0);
            EXPECT_TRUE(ended(waiting.front()));
        }
        EXPECT_TRUE(comes_true([&] { return ended(waiting.front()); }));
        close(out_);
        ASSERT_NO_FATAL_FAILURE(SetUp());
    }
}

TEST_F(Resting, plays_on_for_a_while_when_its_whole_group_is_asked_to_stop) {
    for (int signal : {SIGTERM, SIGINT}) {
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + LONG);
        const auto stream = stub_->Play(&context);
        mj::MahjongCall call;
        mj::MahjongAnswer answer;
        call.set_number(0);
        call.mutable_start();
        ASSERT_TRUE(stream->Write(call));
        ASSERT_TRUE(stream->Read(&answer));
        kill(-bot_, signal);
        mj::MahjongCall draw;
        for (int tiles = 14; tiles > 0; --tiles) draw.mutable_get_draw()->add_tiles(mj::TILE_C1);
        ASSERT_TRUE(stream->Write(draw));
        call.set_number(1);
        call.mutable_request_discard();
        ASSERT_TRUE(stream->Write(call));
        ASSERT_TRUE(stream->Read(&answer));
        EXPECT_EQ(answer.discard(), mj::TILE_C1);
        mj::MahjongCall over;
        over.mutable_over();
        ASSERT_TRUE(stream->Write(over));
        stream->WritesDone();
        EXPECT_TRUE(stream->Finish().ok());
        int status = 0;
        EXPECT_EQ(waitpid(bot_, &status, 0), bot_);
        bot_ = -1;
        EXPECT_EQ(status, 0);
        close(out_);
        ASSERT_NO_FATAL_FAILURE(SetUp());
    }
}

TEST_F(Looping, is_killed_when_its_game_is_cancelled) {
    context_.TryCancel();
    // And nobody waits for its status.
    EXPECT_TRUE(comes_true([&] { return !std::filesystem::exists(path_of(brain_)); }));
    // The bot plays on.
    EXPECT_EQ(waitpid(bot_, nullptr, WNOHANG), 0);
    play(true);
}

TEST_F(Looping, does_not_outlive_a_bot_that_is_killed) {
    kill(bot_, SIGKILL);
    EXPECT_TRUE(comes_true([&] { return ended(brain_); }));
}

TEST_F(Looping, does_not_keep_a_bot_from_stopping) {
    kill(bot_, SIGTERM);
    int status = 0;
    EXPECT_EQ(waitpid(bot_, &status, 0), bot_);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    bot_ = -1;
    EXPECT_TRUE(comes_true([&] { return ended(brain_); }));
}

TEST_F(Settling, leaves_nothing_behind_when_a_round_is_over_or_cut_off) {
    for (bool cut_off : {false, true, false}) {
        mj::MahjongCall call;
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + LONG);
        const auto stream = stub_->Play(&context);
        call.mutable_start();
        for (unsigned number = 0; number < 3; ++number) {
            mj::MahjongAnswer answer;
            call.set_number(number);
            ASSERT_TRUE(stream->Write(call));
            ASSERT_TRUE(stream->Read(&answer));
            mj::MahjongCall draw;
            for (int tiles = number == 0 ? 14 : 1; tiles > 0; --tiles) {
                draw.mutable_get_draw()->add_tiles(mj::TILE_C1);
            }
            ASSERT_TRUE(stream->Write(draw));
            call.mutable_request_discard();
        }
        // The bot, the brain, and twice what it starts.
        ASSERT_TRUE(comes_true([] { return running(DAEMON).size() == 6; }));
        auto old = running(DAEMON);
        for (int pid : old) EXPECT_EQ(getpgid(pid), bot_);
        old.erase(bot_);
        if (cut_off) {
            context.TryCancel();
            stream->Finish();
        } else {
            mj::MahjongCall over;
            over.mutable_over();
            ASSERT_TRUE(stream->Write(over));
            stream->WritesDone();
            ASSERT_TRUE(stream->Finish().ok());
        }
        // And nobody waits for their status.
        for (int pid : old) {
            EXPECT_TRUE(comes_true([&] { return !std::filesystem::exists(path_of(pid)); }));
        }
        // What the next brain has started is let alone.
        EXPECT_TRUE(comes_true([] { return running(DAEMON).size() == 4; }));
    }
    kill(bot_, SIGTERM);
    int status = 0;
    EXPECT_EQ(waitpid(bot_, &status, 0), bot_);
    EXPECT_EQ(status, 0);
    bot_ = -1;
    EXPECT_EQ(running(DAEMON), std::set<int>());
}
