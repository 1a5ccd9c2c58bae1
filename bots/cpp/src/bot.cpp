// The server: streams, health, reflection, where it listens or what it joins, and how it stops.
// Streams are served by gRPC's synchronous interface, a thread for each: a callback may think for
// as long as it likes, and no other game waits for it.
#include "bot_arena/bot.hpp"

#include <cxxabi.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "games.hpp"
#include "join.hpp"
#include "slots.hpp"

namespace bot_arena {
namespace {

// How long games may go on after the bot was asked to stop, and what a peer has then to
// close its connection.
constexpr std::chrono::seconds GRACE{5};
constexpr std::chrono::milliseconds CLOSING{200};
// Threads beside those of games: they wait for streams, or serve reflection.
constexpr int SPARE_THREADS = 8;
// The most bytes of a status message: it is a header, and clients refuse large ones. Names are
// cut to the same length.
constexpr std::size_t MOST_WORDS = 1000;

// What a bot says of itself, for all its streams.
struct BotOptions {
    std::string name;
    std::string version;
    bool can_resume = false;
    GameSlots slots;
};

// The length in bytes of the UTF-8 character at this index; 0 where it is not one (RFC 3629).
std::size_t character_at(const std::string& text, std::size_t here) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(here);
    if (first < 0x80) return 1;
    if (first < 0xc0 || first > 0xf4) return 0;
    const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length > text.size() - here) return 0;
    char32_t code = first & (0x7f >> length);
    for (std::size_t i = here + 1; i < here + length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3f);
    }
    const char32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least || code > 0x10ffff || surrogate ? 0 : length;
}

// The type of the exception that is being handled.
std::string type_thrown() {
    const std::type_info* type = abi::__cxa_current_exception_type();
    std::string words = type == nullptr ? "unknown" : type->name();
    int failed = 0;
    if (char* name = abi::__cxa_demangle(words.c_str(), nullptr, nullptr, &failed)) {
        words = name;
        std::free(name);
    }
    return words;
}

// The stream that this thread serves.
thread_local const grpc::ServerContext* serving = nullptr;

// A stream in a slot. It has left the slot before its status is sent: the referee may
// open the next stream as soon as it has that.
class GameSlot {
public:
    GameSlot(GameSlots& slots, const grpc::ServerContext* stream)
        : slots_(slots), stream_(stream), status_(slots.enter(stream)) {
        serving = stream;
    }
    ~GameSlot() {
        serving = nullptr;
        leave();
        if (status_.ok()) slots_.end();
    }
    GameSlot(const GameSlot&) = delete;
    GameSlot& operator=(const GameSlot&) = delete;

    const grpc::Status& status() const { return status_; }
    void leave() { slots_.leave(stream_); }

private:
    GameSlots& slots_;
    const grpc::ServerContext* stream_;
    grpc::Status status_;
};

// The end of a game in what this kit knows.
GameOver in_known_kinds(GameOver over) {
    if (!arena::v1::Ending_IsValid(over.ending())) {
        over.set_ending(arena::v1::ENDING_UNSPECIFIED);
    }
    for (auto& seat : *over.mutable_results()) {
        if (!arena::v1::FoulKind_IsValid(seat.foul())) {
            seat.set_foul(arena::v1::FOUL_KIND_UNSPECIFIED);
        }
    }
    return over;
}

template <class Game>
class Served final : public Game::Service::Service {
public:
    using Call = typename Game::Call;
    using Answer = typename Game::Answer;
    using Stream = grpc::ServerReaderWriter<Answer, Call>;

    Served(BotOptions& options, Factory<typename Game::Player> factory)
        : options_(options), factory_(std::move(factory)) {}

    grpc::Status Play(grpc::ServerContext* context, Stream* stream) override {
        GameSlot slot(options_.slots, context);
        if (!slot.status().ok()) return slot.status();
        const char* callback = "the constructor";
        try {
            return play(*stream, slot, callback);
        } catch (const GameFailed& error) {
            return failed(error.what());
        } catch (...) {
            return failed(std::string("exception in ") + callback + ": " + exception_words());
        }
    }

private:
    static grpc::Status failed(const std::string& words) {
        std::fprintf(stderr, "%s\n", words.c_str());
        return {grpc::StatusCode::INTERNAL, as_utf8(words, MOST_WORDS)};
    }

    // Plays until the other side closes the stream, or cancels it: then reading fails.
    grpc::Status play(Stream& stream, GameSlot& slot, const char*& callback) {
        using grpc::StatusCode;
        std::unique_ptr<typename Game::Player> player;
        for (Call call; stream.Read(&call);) {
            Answer answer;
            bool answered = false;
            if (call.has_start()) {
                player = factory_(call.start());
                if (player == nullptr) {
                    throw GameFailed(
                        "the constructor returned nullptr: expected an object of the game's class");
                }
                Game::begin(*player, call, callback);
                answered = !call.has_past_answer();
                if (answered) introduce(*answer.mutable_ready());
            } else if (player == nullptr) {
                return {StatusCode::FAILED_PRECONDITION, "the game has not begun"};
            } else if (call.has_over()) {
                callback = "game_over";
                player->game_over(in_known_kinds(call.over()));
                slot.leave();
            } else {
                answered = Game::hear(*player, call, answer, callback);
            }
            if (!answered) continue;
            if (!call.has_number()) {
                return {StatusCode::INVALID_ARGUMENT, "a question without a number"};
            }
            answer.set_number(call.number());
            if (!stream.Write(answer)) break;
        }
        return grpc::Status::OK;
    }

    void introduce(arena::v1::Ready& ready) const {
        ready.set_bot(options_.name);
        ready.set_version(options_.version);
        ready.set_max_games(options_.slots.max_games);
        ready.set_can_resume(options_.can_resume);
    }

    BotOptions& options_;
    Factory<typename Game::Player> factory_;
};

struct BadAddress : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Where to listen, in our words and in gRPC's.
struct Address {
    bool is_unix = false;
    std::string path;  // Or HOST:PORT.

    static Address parse(const std::string& text) {
        const BadAddress bad("BOT_LISTEN is \"" + text + "\": expected unix:PATH or tcp:HOST:PORT");
        if (text.rfind("unix:", 0) == 0) {
            std::string path = text.substr(text.rfind("unix://", 0) == 0 ? 7 : 5);
            if (path.empty()) throw bad;
            return {true, path};
        }
        if (text.rfind("tcp:", 0) != 0) throw bad;
        if (host_of(text.substr(4)).empty()) throw bad;
        return {false, text.substr(4)};
    }

    // gRPC reads an address as a URI, so whatever means something there is escaped.
    std::string uri() const {
        if (!is_unix) return path;
        std::string escaped = "unix:";
        for (unsigned char c : path) {
            char code[4];
            std::snprintf(code, sizeof code, "%%%02X", c);
            const bool plain = std::isalnum(c) || std::string("/-._~").find(c) != std::string::npos;
            escaped += plain ? std::string(1, static_cast<char>(c)) : code;
        }
        return escaped;
    }

    std::string listening(int port) const {
        if (is_unix) return "unix:" + path;
        if (port == 0) return "tcp:" + path;
        return "tcp:" + path.substr(0, path.rfind(':') + 1) + std::to_string(port);
    }

    // A socket that a dead process left behind would be in the way; nothing else is touched.
    void remove_socket() const {
        std::error_code ignored;
        if (is_unix && std::filesystem::is_socket(std::filesystem::symlink_status(path, ignored))) {
            std::filesystem::remove(path, ignored);
        }
    }
};

}  // namespace

bool cancelled() { return serving != nullptr && serving->IsCancelled(); }

std::string exception_words() {
    try {
        throw;
    } catch (const std::exception& error) {
        return type_thrown() + ": " + error.what();
    } catch (const std::string& text) {
        return text;
    } catch (const char* text) {
        return text != nullptr ? text : "a null pointer";
    } catch (...) {
        return type_thrown();
    }
}

std::string as_utf8(const std::string& text, std::size_t most) {
    std::string kept;
    for (std::size_t here = 0; here < text.size();) {
        const std::size_t length = character_at(text, here);
        const std::string next = length == 0 ? "\xef\xbf\xbd" : text.substr(here, length);
        if (kept.size() + next.size() > most) break;
        kept += next;
        here += length == 0 ? 1 : length;
    }
    return kept;
}

struct Bot::State {
    BotOptions options;
    std::vector<std::unique_ptr<grpc::Service>> services;
    std::vector<std::string> names;
    bool served = false;

    template <class Game, class Make>
    void plays(Make factory) {
        services.push_back(std::make_unique<Served<Game>>(options, std::move(factory)));
        names.emplace_back(Game::Service::service_full_name());
    }

    int serve();
    int listen(const sigset_t& stop);
    int join(const sigset_t& stop, const char* arena);
    std::unique_ptr<grpc::Server> start(grpc::ServerBuilder& builder);
    int end(grpc::Server& server, bool idle, int code);
};

Bot::Bot(const std::string& name, const std::string& version) : state_(std::make_unique<State>()) {
    state_->options.name = as_utf8(name, MOST_WORDS);
    state_->options.version = as_utf8(version, MOST_WORDS);
}
Bot::~Bot() {
    if (state_ != nullptr && !state_->served) {
        std::fprintf(stderr, "Bot(\"%s\", ...) was never served: call its main()\n",
                     state_->options.name.c_str());
    }
}
Bot::Bot(Bot&&) noexcept = default;
Bot& Bot::operator=(Bot&&) noexcept = default;

Bot& Bot::max_games(int games) {
    if (games < 1) throw std::invalid_argument("max_games must be at least 1");
    state_->options.slots.max_games = games;
    return *this;
}

Bot& Bot::can_resume() {
    state_->options.can_resume = true;
    return *this;
}

Bot& Bot::connect_four(Factory<ConnectFourBot> factory) {
    state_->plays<ConnectFour>(std::move(factory));
    return *this;
}

Bot& Bot::mahjong(Factory<MahjongBot> factory) {
    state_->plays<Mahjong>(std::move(factory));
    return *this;
}

Bot& Bot::big_two(Factory<BigTwoBot> factory) {
    state_->plays<BigTwo>(std::move(factory));
    return *this;
}

Bot& Bot::othello(Factory<OthelloBot> factory) {
    state_->plays<Othello>(std::move(factory));
    return *this;
}

int Bot::main() {
    // What a bot prints is a log, and a log is read while it grows.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    state_->served = true;
    try {
        return state_->serve();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

int Bot::State::serve() {
    // Blocked here, and so in every thread that gRPC starts: only sigwait below sees them.
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);
    const char* arena = std::getenv("BOT_JOIN");
    return arena != nullptr ? join(stop, arena) : listen(stop);
}

std::unique_ptr<grpc::Server> Bot::State::start(grpc::ServerBuilder& builder) {
    // Twice, for a game that was cancelled has its thread until its callback returns.
    grpc::ResourceQuota quota;
    builder.SetResourceQuota(quota.SetMaxThreads(2 * options.slots.max_games + SPARE_THREADS));
    for (auto& service : services) builder.RegisterService(service.get());
    return builder.BuildAndStart();
}

int Bot::State::end(grpc::Server& server, bool idle, int code) {
    // A callback that never returns would hold up whatever ends in order.
    if (!idle) std::_Exit(code);
    server.Shutdown(std::chrono::system_clock::now() + CLOSING);
    return code;
}

int Bot::State::listen(const sigset_t& stop) {
    const char* listen = std::getenv("BOT_LISTEN");
    const Address address = Address::parse(listen != nullptr ? listen : "tcp:127.0.0.1:50051");
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    address.remove_socket();
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(address.uri(), grpc::InsecureServerCredentials(), &port);
    // Otherwise two bots could listen on one port, each for some of the connections.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    const auto server = start(builder);
    if (server == nullptr || port == 0) {
        throw std::runtime_error("could not listen on " + address.listening(port));
    }
    for (const auto& name : names) server->GetHealthCheckService()->SetServingStatus(name, true);
    std::printf("listening on %s\n", address.listening(port).c_str());
    std::fflush(stdout);

    int signal = 0;
    sigwait(&stop, &signal);
    options.slots.close();
    const bool idle = options.slots.wait_until_idle(GRACE);
    address.remove_socket();
    return end(*server, idle, 0);
}

int Bot::State::join(const sigset_t& stop, const char* arena) {
    if (names.empty()) throw std::runtime_error("could not join: the bot plays no game");
    Lobby lobby(arena, names);
    grpc::ServerBuilder builder;
    const auto server = start(builder);
    std::thread waiting([&] {
        int signal = 0;
        sigwait(&stop, &signal);
        lobby.stop();
    });
    int code = 0;
    try {
        lobby.attend(server->InProcessChannel({}));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        code = 1;
    }
    const bool idle = lobby.finish() && options.slots.wait_until_idle(CLOSING);
    // It still waits where nobody has asked us to stop.
    pthread_kill(waiting.native_handle(), SIGTERM);
    waiting.join();
    return end(*server, idle, code);
}

}  // namespace bot_arena
