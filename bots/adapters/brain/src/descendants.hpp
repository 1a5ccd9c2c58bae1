// The processes that brains have started. A brain's process adopts the orphans below it, and the
// bot adopts them when the brain dies. So a child of the bot that is not a running brain is left
// over from a finished round, and is killed.
#pragma once

#include <functional>
#include <mutex>
#include <set>

namespace brain_harness {

// The processes of running brains.
class Descendants {
public:
    // Those of this process.
    static Descendants& of_this_process();

    // Calls this function, which starts a brain's process and returns its pid, or -1.
    int start(const std::function<int()>& start);
    // Waits for the end of a brain's process, and kills and reaps what it has left behind.
    // Gives its status as waitpid does.
    int reap(int pid);

private:
    void kill_leftovers();

    std::mutex mutex_;
    std::set<int> brains_;
};

// Restricts this process and all below it: they can't leave its process group, so that killing the
// group reaches all of them. Adopts orphans.
void enter_sandbox();

}  // namespace brain_harness
