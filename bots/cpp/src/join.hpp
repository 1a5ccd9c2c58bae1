// Joining an arena instead of listening: a bot that nobody can dial dials the arena's lobby
// (arena.v1.Lobby), and is invited to games there. Their calls go on to the bot's own server,
// through memory, so that a bot does not know how it is reached.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arena/v1/lobby.grpc.pb.h"

namespace bot_arena {

// The host of HOST:PORT; nothing where it is not that.
std::string host_of(const std::string& host_port);

class Lobby {
public:
    // The arena that BOT_JOIN names, with the token in BOT_TOKEN_FILE and the certificate
    // authority in BOT_CA. Throws std::runtime_error where one of them is wrong.
    Lobby(std::string address, std::vector<std::string> services);

    // Attends until it is stopped, and comes back wherever it is cut off. The games are played
    // by the server at the end of this channel. Throws std::runtime_error where the arena does
    // not let it in, or another process has its place.
    void attend(const std::shared_ptr<grpc::Channel>& server);
    // Takes no further game.
    void stop();
    // Waits until every game is over, for five seconds after its first call at most. Says
    // whether they are. For the thread that attends.
    bool finish();

private:
    struct Seat;
    template <class Sent, class Heard>
    class Stream;
    using Lock = std::unique_lock<std::mutex>;
    using Clock = std::chrono::steady_clock;

    [[noreturn]] void wrong(const std::string& why) const;
    [[noreturn]] void refused(const std::string& why) const;
    std::string text_of(const std::string& variable, const std::string& file) const;
    std::string token() const;
    std::string stay();
    void take(const arena::v1::Invitation& invitation);
    void play(const arena::v1::Invitation& invitation);
    bool sit(Seat& seat);

    std::string address_;
    std::vector<std::string> services_;
    std::string target_;
    std::string bearer_;
    std::shared_ptr<grpc::ChannelCredentials> credentials_;
    std::unique_ptr<grpc::GenericStub> server_;

    // Guards what follows, and what streams have heard; `changed_` is told of each change.
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopped_ = false;
    // By the connection that the control stream is on; none while that is not open.
    std::shared_ptr<arena::v1::Lobby::Stub> found_;
    // Counts how often there was another connection.
    int moves_ = 0;

    // By the keys of their invitations. Only the thread that attends has these two.
    std::map<std::string, std::future<void>> games_;
    std::optional<Clock::time_point> ends_at_;
};

}  // namespace bot_arena
