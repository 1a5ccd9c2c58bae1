// The processes that brains play in: this same program again, one for each round, so that a
// brain finds its globals fresh and its crash is its own. Bot and brain exchange short lines
// over a pair of sockets.
#pragma once

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace brain_harness {

// One of them, seen by the bot. It is killed where it has not ended by itself.
class Process {
public:
    // Starts it. It makes its brain and waits. It lives no longer than the thread that calls
    // this, so that is left to a Starter. Throws std::system_error.
    Process();
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    // Waits until its brain is made. Throws what the brain threw, or how the process has ended.
    void wait_until_ready();
    // If the process has ended, the next `hear` says so.
    void tell(const std::string& line);
    // Waits for a line. Throws as above, and where the game is cut off.
    std::string hear();
    // Closes our side: the process destroys its brain and ends.
    void dismiss();
    // Whether it has ended. Does not wait.
    bool has_ended();
    // Kills it if it has not ended, and all that it has started; says how it ended.
    std::string end();

private:
    int pid_ = -1;
    int socket_ = -1;
    bool ready_ = false;
};

// The thread that starts processes. The system kills them when the thread ends that started
// them, and the threads that serve streams come and go.
class Starter {
public:
    Starter();
    ~Starter();
    Starter(const Starter&) = delete;
    Starter& operator=(const Starter&) = delete;

    // Only one thread may call this at a time.
    std::unique_ptr<Process> start();

private:
    void work();

    std::mutex mutex_;
    std::condition_variable ordered_;
    std::packaged_task<std::unique_ptr<Process>()> order_;
    bool stopping_ = false;
    std::thread thread_;
};

// Keeps one process waiting for the next round. A referee that limits a bot's memory adds up all
// its processes and compares with the sum when the bot began to listen: so one exists by then, and
// again at the start of each round.
class Reserve {
public:
    // Starts the first one and waits until its brain is made. Throws as that does.
    Reserve();

    // The process that waits; where it has died, or there is none, another one.
    std::unique_ptr<Process> take();
    // One that was taken has ended: the next one is started.
    void renew();

private:
    std::mutex mutex_;
    std::condition_variable renewed_;
    int playing_ = 0;
    Starter starter_;
    std::unique_ptr<Process> waiting_;
};

// What the process itself does. Gives the exit code.
int play();
// The one where it could not read what it is asked.
constexpr int CLOSED = 86;
// What it says when its brain is made.
constexpr char READY[] = "ready";
// What it says first when the brain has thrown; where and what follow.
const std::string EXCEPTION = "exception in ";

// Whether the program is to play.
bool plays(int count, char** arguments);

// The argument that makes the program play; the pid of the process that starts it follows.
constexpr char PLAY[] = "--play-for";

}  // namespace brain_harness
