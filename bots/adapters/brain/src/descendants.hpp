// What brains have started. A brain's process takes in whatever is orphaned below it, and when
// it dies the bot does: so a child of the bot that is no living brain is left over from a round
// that has ended, and is killed.
#pragma once

#include <functional>
#include <mutex>
#include <set>

namespace brain_harness {

// The processes of brains that live.
class Descendants {
public:
    // Those of this process.
    static Descendants& of_this_process();

    // Calls this, which starts a brain's process and gives its number; -1 where it can't.
    int start(const std::function<int()>& start);
    // Waits for the end of a brain's process, and kills and reaps what it has left behind.
    // Gives its status as waitpid does.
    int reap(int pid);

private:
    void kill_leftovers();

    std::mutex mutex_;
    std::set<int> brains_;
};

// Shuts off what a brain has no business with, for this process and all below it: they can't
// leave its process group, so that whoever kills that reaches all of it. Takes in orphans.
void enter_sandbox();

}  // namespace brain_harness
