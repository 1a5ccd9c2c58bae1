// How many games are being played: the bound on threads, and what a stop waits for.
#pragma once

#include <grpcpp/server_context.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

namespace bot_arena {

class GameSlots {
public:
    int max_games = 1;

    // Takes a slot where there is one, or becomes free soon: a referee may open its next
    // stream before this process has heard that the last one was cancelled.
    grpc::Status enter(const grpc::ServerContext* stream);
    // The game is over, so it takes no slot any more. Says nothing where it has left already.
    void leave(const grpc::ServerContext* stream);
    // Refuses every new stream from now on.
    void close();
    // Waits until every stream has ended. Says whether that was within this time.
    bool wait_until_idle(std::chrono::milliseconds grace);
    // A stream has ended.
    void end();

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<const grpc::ServerContext*> playing_;
    int streams_ = 0;
    bool closed_ = false;
};

}  // namespace bot_arena
