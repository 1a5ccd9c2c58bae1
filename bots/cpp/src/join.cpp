#include "join.hpp"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>
#include <utility>

namespace bot_arena {
namespace {

using arena::v1::FromBot;
using arena::v1::FromSeat;
using arena::v1::ToBot;
using arena::v1::ToSeat;
using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The arena sends a ping every two seconds. After this time without one its stream is dead.
constexpr seconds SILENT{6};
constexpr seconds OPENS_WITHIN{10};
// The pause before the arena is dialled again: at first, and at most.
constexpr milliseconds FIRST_PAUSE{500};
constexpr milliseconds LONGEST_PAUSE{2000};
// How long to try to come back to a game; the arena waits for less.
constexpr seconds BACK_WITHIN{35};
// How long games may go on after the bot was asked to stop.
constexpr seconds GRACE{5};
// How long the last messages of a game, and of a control stream, may take.
constexpr seconds LAST_MESSAGES{5};

// Whether the arena does not let a bot in, and will not later.
bool is_refusal(StatusCode code) {
    return code == StatusCode::UNAUTHENTICATED || code == StatusCode::PERMISSION_DENIED ||
           code == StatusCode::INVALID_ARGUMENT;
}

// Whether the arena has ended a game with this status; others are those of a connection that
// broke.
bool is_last(StatusCode code) {
    return is_refusal(code) || code == StatusCode::OK || code == StatusCode::NOT_FOUND ||
           code == StatusCode::ABORTED;
}

grpc::ByteBuffer buffer_of(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    return {&slice, 1};
}

std::string bytes_of(const grpc::ByteBuffer& buffer) {
    grpc::Slice slice;
    if (!buffer.DumpToSingleSlice(&slice).ok()) return "";
    return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

}  // namespace

std::string host_of(const std::string& host_port) {
    const auto colon = host_port.rfind(':');
    if (colon == std::string::npos || colon == 0) return "";
    const std::string host = host_port.substr(0, colon);
    const std::string port = host_port.substr(colon + 1);
    const bool bracketed = host.front() == '[' && host.back() == ']';
    if (host.find(':') != std::string::npos && !bracketed) return "";
    const bool is_port = !port.empty() && port.size() <= 5 &&
                         port.find_first_not_of("0123456789") == std::string::npos &&
                         std::stoi(port) <= 65535;
    return is_port ? host : "";
}

// A stream of ours, whose messages never wait for it. All of it is used with the mutex held, but
// for its making and its destructor.
template <class Sent, class Heard>
class Lobby::Stream final : public grpc::ClientBidiReactor<Sent, Heard> {
public:
    explicit Stream(Lobby& lobby) : lobby_(lobby) {}
    ~Stream() {
        context.TryCancel();
        Lock lock(lobby_.mutex_);
        lobby_.changed_.wait(lock, [this] { return ended; });
    }

    // Call it once a stub has this stream.
    void begin() {
        // We send at any time.
        this->AddHold();
        this->StartRead(&next_);
        this->StartCall();
    }
    void send(Sent message) {
        unsent_.push_back(std::move(message));
        if (unsent_.size() == 1 && !broken_) this->StartWrite(&unsent_.front());
    }
    // Ends our side.
    void close() {
        closing_ = true;
        if (unsent_.empty() && !broken_) this->StartWritesDone();
    }

    grpc::ClientContext context;
    std::deque<Heard> heard;
    // True if nothing more is heard; then there is the status.
    bool ended = false;
    grpc::Status status;

private:
    void OnReadDone(bool ok) override {
        const Lock lock(lobby_.mutex_);
        if (ok) {
            heard.push_back(std::move(next_));
            next_ = Heard();
            this->StartRead(&next_);
        } else {
            broken_ = true;
            this->RemoveHold();
        }
        lobby_.changed_.notify_all();
    }
    void OnWriteDone(bool ok) override {
        const Lock lock(lobby_.mutex_);
        // Else it has broken, and reading fails too.
        if (ok) {
            unsent_.pop_front();
            if (!unsent_.empty() && !broken_) this->StartWrite(&unsent_.front());
            if (unsent_.empty() && closing_ && !broken_) this->StartWritesDone();
        }
        lobby_.changed_.notify_all();
    }
    void OnDone(const grpc::Status& last) override {
        const Lock lock(lobby_.mutex_);
        status = last;
        ended = true;
        lobby_.changed_.notify_all();
    }

    Lobby& lobby_;
    Heard next_;
    std::deque<Sent> unsent_;
    bool closing_ = false;
    bool broken_ = false;
};

Lobby::Lobby(std::string address, std::vector<std::string> services)
    : address_(std::move(address)), services_(std::move(services)) {
    const bool secure = address_.rfind("https://", 0) == 0;
    if (secure || address_.rfind("http://", 0) == 0) target_ = address_.substr(secure ? 8 : 7);
    if (!target_.empty() && target_.back() == '/') target_.pop_back();
    const std::string host = host_of(target_);
    if (host.empty() || host.find_first_of("/@") != std::string::npos) {
        wrong("expected https://HOST:PORT or http://HOST:PORT");
    }
    const bool is_loopback =
        host == "localhost" || host == "[::1]" ||
        (host.rfind("127.", 0) == 0 && host.find_first_not_of("0123456789.") == std::string::npos);
    if (!secure && !is_loopback) {
        wrong("it has no TLS, and whoever is between could read the token: use https://");
    }
    bearer_ = "Bearer " + token();
    grpc::SslCredentialsOptions authorities;
    if (const char* file = std::getenv("BOT_CA"); secure && file != nullptr) {
        authorities.pem_root_certs = text_of("BOT_CA", file);
    }
    credentials_ = secure ? grpc::SslCredentials(authorities) : grpc::InsecureChannelCredentials();
}

void Lobby::wrong(const std::string& why) const {
    throw std::runtime_error("could not join: BOT_JOIN is \"" + address_ + "\": " + why);
}

void Lobby::refused(const std::string& why) const {
    throw std::runtime_error("could not join: " + address_ + ": " + why);
}

// The text of the file that a variable names.
std::string Lobby::text_of(const std::string& variable, const std::string& file) const {
    std::ifstream opened(file, std::ios::binary);
    if (!opened) wrong("could not read " + variable + " " + file);
    std::ostringstream text;
    text << opened.rdbuf();
    return text.str();
}

std::string Lobby::token() const {
    const char* file = std::getenv("BOT_TOKEN_FILE");
    if (file == nullptr) {
        wrong("BOT_TOKEN_FILE must name the file with the token that you were given");
    }
    std::string token;
    int tokens = 0;
    std::istringstream lines(text_of("BOT_TOKEN_FILE", file));
    for (std::string line; std::getline(lines, line);) {
        line.erase(0, line.find_first_not_of(" \t\r"));
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (line.empty() || line.front() == '#') continue;
        token = line;
        ++tokens;
    }
    const bool is_token = token.size() == 70 && token.rfind("arena_", 0) == 0 &&
                          token.find_first_not_of("0123456789abcdefABCDEF", 6) == std::string::npos;
    if (tokens != 1 || !is_token) {
        wrong(std::string(file) + ": expected one token: arena_ and 64 hexadecimal digits");
    }
    return token;
}

void Lobby::attend(const std::shared_ptr<grpc::Channel>& server) {
    server_ = std::make_unique<grpc::GenericStub>(server);
    std::string told;
    auto pause = FIRST_PAUSE;
    const auto stopped = [this] { return stopped_; };
    for (;;) {
        const auto began = Clock::now();
        const std::string why = stay();
        if (Clock::now() - began > LONGEST_PAUSE) pause = FIRST_PAUSE;
        Lock lock(mutex_);
        // Games go on by streams that are open; none is opened before the arena is found again.
        found_ = nullptr;
        if (!stopped_ && why != told) {
            std::fprintf(stderr, "%s: %s; it is tried again\n", address_.c_str(), why.c_str());
            told = why;
        }
        if (changed_.wait_for(lock, pause, stopped)) return;
        pause = std::min(2 * pause, LONGEST_PAUSE);
    }
}

void Lobby::stop() {
    const Lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
}

bool Lobby::finish() {
    if (!ends_at_) ends_at_ = Clock::now() + GRACE;
    for (auto& [key, game] : games_) {
        if (game.wait_until(*ends_at_) != std::future_status::ready) return false;
    }
    return true;
}

// One control stream to its end. Says why it has ended.
std::string Lobby::stay() {
    grpc::ChannelArguments arguments;
    // Of its own each time: a connection that is dead is not found again.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const std::shared_ptr<arena::v1::Lobby::Stub> stub =
        arena::v1::Lobby::NewStub(grpc::CreateCustomChannel(target_, credentials_, arguments));
    Stream<FromBot, ToBot> stream(*this);
    stream.context.AddMetadata("authorization", bearer_);
    stub->async()->Attend(&stream.context, &stream);
    Lock lock(mutex_);
    stream.begin();
    FromBot hello;
    for (const auto& service : services_) hello.mutable_hello()->add_services(service);
    hello.mutable_hello()->set_program("bot_arena (C++)");
    stream.send(hello);
    for (auto patience = OPENS_WITHIN;; patience = SILENT) {
        const auto heard = [&] { return stopped_ || stream.ended || !stream.heard.empty(); };
        if (!changed_.wait_for(lock, patience, heard)) return "nothing is heard of it";
        FromBot reply;
        if (stopped_) {
            reply.mutable_drain();
            stream.send(reply);
            // Games come back to it until they are over.
            lock.unlock();
            finish();
            lock.lock();
            stream.close();
            // Who drops a stream may lose its last message.
            changed_.wait_for(lock, LAST_MESSAGES, [&] { return stream.ended; });
            return "it was stopped";
        }
        if (stream.heard.empty()) break;
        const ToBot message = std::move(stream.heard.front());
        stream.heard.pop_front();
        if (message.has_greeting()) {
            std::printf("attending at %s as %s\n", address_.c_str(),
                        message.greeting().name().c_str());
            found_ = stub;
            ++moves_;
            changed_.notify_all();
        } else if (message.has_ping()) {
            reply.mutable_pong()->set_number(message.ping().number());
            stream.send(reply);
        } else if (message.has_invitation()) {
            take(message.invitation());
        } else if (message.has_superseded()) {
            lock.unlock();
            finish();
            refused("another process has joined with the same token, and this one ends; each "
                    "process needs a token of its own");
        }
    }
    const auto code = stream.status.error_code();
    const auto& words = stream.status.error_message();
    if (code == StatusCode::UNIMPLEMENTED) {
        wrong("this arena has no lobby: `arena serve --lobby FILE` opens it");
    }
    if (is_refusal(code)) refused(words);
    if (code == StatusCode::OK) return "it has ended the stream";
    return words.empty() ? "status " + std::to_string(code) : words;
}

// An invitation to a game that is played already says that it waits for us, which its own thread
// knows.
void Lobby::take(const arena::v1::Invitation& invitation) {
    for (auto it = games_.begin(); it != games_.end();) {
        const bool over = it->second.wait_for(seconds(0)) == std::future_status::ready;
        it = over ? games_.erase(it) : std::next(it);
    }
    if (games_.count(invitation.key()) > 0) return;
    games_[invitation.key()] =
        std::async(std::launch::async, [this, invitation] { play(invitation); });
}

// A game on the side of the bot.
struct Lobby::Seat {
    Seat(Lobby& lobby, std::string named) : key(std::move(named)), game(lobby) {}

    const std::string key;
    // To the bot's own server.
    Stream<grpc::ByteBuffer, grpc::ByteBuffer> game;
    // Number of calls that the bot has been given, and its last answer.
    std::uint64_t calls = 0;
    std::string answer;
    // Whether the arena was heard by the last stream.
    bool was_heard = false;
};

void Lobby::play(const arena::v1::Invitation& invitation) {
    Seat seat(*this, invitation.key());
    server_->PrepareBidiStreamingCall(&seat.game.context, "/" + invitation.service() + "/Play", {},
                                      &seat.game);
    {
        const Lock lock(mutex_);
        seat.game.begin();
    }
    auto since = Clock::now();
    while (!sit(seat)) {
        if (std::exchange(seat.was_heard, false)) since = Clock::now();
        // Its destructor cancels the bot's game.
        if (Clock::now() - since > BACK_WITHIN) return;
        Lock lock(mutex_);
        changed_.wait_for(lock, FIRST_PAUSE, [&, moves = moves_] { return moves_ != moves; });
    }
    Lock lock(mutex_);
    // It hears that there is no further call.
    seat.game.close();
    changed_.wait_for(lock, LAST_MESSAGES, [&] { return seat.game.ended; });
}

// Plays by one stream. True if the game is over for us; else the stream broke, or the arena was
// reached in another way meanwhile.
bool Lobby::sit(Seat& seat) {
    std::shared_ptr<arena::v1::Lobby::Stub> stub;
    int moves;
    {
        const Lock lock(mutex_);
        stub = found_;
        moves = moves_;
    }
    if (stub == nullptr) return false;
    Stream<FromSeat, ToSeat> stream(*this);
    stream.context.AddMetadata("authorization", bearer_);
    stub->async()->Play(&stream.context, &stream);
    Lock lock(mutex_);
    stream.begin();
    FromSeat first;
    first.mutable_take()->set_key(seat.key);
    first.mutable_take()->set_calls(seat.calls);
    first.mutable_take()->set_answer(seat.answer);
    stream.send(first);
    while (moves_ == moves) {
        if (!stream.heard.empty()) {
            const ToSeat message = std::move(stream.heard.front());
            stream.heard.pop_front();
            seat.was_heard = true;
            if (message.has_call()) {
                ++seat.calls;
                seat.game.send(buffer_of(message.call()));
            } else {
                stream.send(FromSeat());
            }
        } else if (!seat.game.heard.empty()) {
            seat.answer = bytes_of(seat.game.heard.front());
            seat.game.heard.pop_front();
            FromSeat answer;
            answer.set_answer(seat.answer);
            stream.send(answer);
        } else if (stream.ended) {
            return is_last(stream.status.error_code());
        } else if (seat.game.ended) {
            // Without an error it has hung up.
            FromSeat last;
            last.mutable_failure()->set_code(seat.game.status.error_code());
            last.mutable_failure()->set_message(seat.game.status.error_message());
            stream.send(last);
            stream.close();
            // Who drops a stream may lose its last message.
            changed_.wait_for(lock, LAST_MESSAGES, [&] { return stream.ended; });
            return stream.ended && is_last(stream.status.error_code());
        } else {
            changed_.wait(lock);
        }
    }
    return false;
}

}  // namespace bot_arena
