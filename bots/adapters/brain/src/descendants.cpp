#include "descendants.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace brain_harness {
namespace {

// How many passes one clean-up makes: what starts processes faster than they are killed is left to
// the next one.
constexpr int MOST_PASSES = 1000;

// The children of this process, those of its other threads too (proc_pid_task(5)).
std::vector<int> children() {
    std::vector<int> found;
    std::error_code ignored;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
        std::ifstream list(thread.path() / "children");
        found.insert(found.end(), std::istream_iterator<int>(list), {});
    }
    return found;
}

#if defined(__x86_64__)
constexpr unsigned ARCHITECTURE = AUDIT_ARCH_X86_64;
// What marks the calls of its other ABI (x32).
constexpr unsigned OTHER_ABI = 0x40000000;
#elif defined(__aarch64__)
constexpr unsigned ARCHITECTURE = AUDIT_ARCH_AARCH64;
constexpr unsigned OTHER_ABI = 0;
#endif

// Whether setsid and setpgid are refused from here on (seccomp(2)).
bool stay_in_group() {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
#if defined(__x86_64__) || defined(__aarch64__)
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
        // Other architectures' calls have other numbers.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~OTHER_ABI),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsid, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setpgid, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const sock_fprog filter{std::size(steps), steps};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
#else
    errno = ENOSYS;
    return false;
#endif
}

}  // namespace

Descendants& Descendants::of_this_process() {
    static Descendants descendants;
    return descendants;
}

int Descendants::start(const std::function<int()>& start) {
    // Until it is known here, kill_leftovers must not see it.
    std::lock_guard lock(mutex_);
    const int pid = start();
    if (pid > 0) brains_.insert(pid);
    return pid;
}

int Descendants::reap(int pid) {
    siginfo_t ended{};
    while (waitid(P_PID, pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    // Its pid may be reused as soon as it has been reaped.
    std::lock_guard lock(mutex_);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    brains_.erase(pid);
    kill_leftovers();
    return status;
}

void Descendants::kill_leftovers() {
    // The children of a killed process are adopted when it is dead.
    for (int pass = 0; pass < MOST_PASSES; ++pass) {
        std::vector<int> killed;
        for (int child : children()) {
            if (brains_.count(child) == 0 && kill(child, SIGKILL) == 0) killed.push_back(child);
        }
        if (killed.empty()) return;
        for (int child : killed) {
            while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
            }
        }
    }
}

void enter_sandbox() {
    // Where the system refuses, rounds can be played all the same.
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 || !stay_in_group()) {
        std::fprintf(stderr, "note: what the brain starts may not be killed with it: %s\n",
                     std::strerror(errno));
    }
}

}  // namespace brain_harness
