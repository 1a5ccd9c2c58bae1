// Starts processes that want to stay: at its start and in its second turn, each time a child, and
// one that has gone away from it (daemon(7)).
#include <signal.h>
#include <unistd.h>

#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    MyBrain() { settle(); }
    Tile requestDiscard() override {
        if (++turns == 2) settle();
        return SimpleBrain::requestDiscard();
    }

private:
    static void stay() {
        signal(SIGTERM, SIG_IGN);
        for (;;) pause();
    }
    static void settle() {
        if (fork() == 0) stay();
        if (fork() == 0) {
            setpgid(0, 0);
            setsid();
            if (fork() == 0) stay();
            _exit(0);
        }
    }

    int turns = 0;
};
