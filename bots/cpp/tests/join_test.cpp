// The kit joins an arena, whose lobby is the test.
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>

#include "arena/v1/lobby.grpc.pb.h"
#include "harness.hpp"

namespace {

using arena::v1::FromBot;
using arena::v1::FromSeat;
using arena::v1::ToBot;
using arena::v1::ToSeat;
using grpc::StatusCode;

const std::string KEY = "0123456789abcdef";
const std::string TOKEN = "arena_" + std::string(64, '5');

// The streams of one kind that the lobby has, open until the test ends them.
template <class Heard, class Told>
class Streams {
public:
    class Stream {
    public:
        Stream(grpc::ServerContext& context, grpc::ServerReaderWriter<Told, Heard>& stream)
            : context_(context), stream_(stream) {}
        Heard hear() {
            Heard message;
            EXPECT_TRUE(stream_.Read(&message)) << "no message";
            return message;
        }
        void tell(const Told& message) { EXPECT_TRUE(stream_.Write(message)); }
        // Nothing more is heard.
        bool is_closed() {
            Heard message;
            return !stream_.Read(&message);
        }
        // The bot has ended its side, and waits for the end of ours.
        bool is_half_closed() { return is_closed() && !context_.IsCancelled(); }

        grpc::ServerContext& context_;
        grpc::ServerReaderWriter<Told, Heard>& stream_;
        bool over = false;
        grpc::Status status;
    };

    // Holds a stream until the test ends it.
    grpc::Status hold(grpc::ServerContext& context, grpc::ServerReaderWriter<Told, Heard>& stream) {
        std::unique_lock lock(mutex_);
        if (closed_) return {StatusCode::UNAVAILABLE, "the test is over"};
        const auto held = std::make_shared<Stream>(context, stream);
        new_.push_back(held);
        changed_.notify_all();
        changed_.wait(lock, [&] { return held->over || closed_; });
        return held->status;
    }
    std::shared_ptr<Stream> next() {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, LONG, [&] { return !new_.empty(); })) {
            throw std::runtime_error("no stream");
        }
        const auto stream = new_.front();
        new_.pop_front();
        return stream;
    }
    void end(Stream& stream, grpc::Status status = {}) {
        std::lock_guard lock(mutex_);
        stream.over = true;
        stream.status = std::move(status);
        changed_.notify_all();
    }
    void close() {
        std::lock_guard lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<Stream>> new_;
    bool closed_ = false;
};

class Join : public Kit, private arena::v1::Lobby::Service {
protected:
    void SetUp() override {
        Kit::SetUp();
        grpc::ServerBuilder builder;
        int port = 0;
        builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
        builder.RegisterService(this);
        server_ = builder.BuildAndStart();
        ASSERT_NE(server_, nullptr);
        url_ = "http://127.0.0.1:" + std::to_string(port);
        joins(url_, "# The token of a test.\n\n" + TOKEN + "\n");
    }
    void TearDown() override {
        bots_.close();
        seats_.close();
        server_->Shutdown(std::chrono::system_clock::now());
        unsetenv("BOT_JOIN");
        unsetenv("BOT_TOKEN_FILE");
        Kit::TearDown();
    }

    // What processes find in their environment.
    static void joins(const std::string& arena, const std::string& token) {
        std::ofstream("token") << token;
        setenv("BOT_JOIN", arena.c_str(), 1);
        setenv("BOT_TOKEN_FILE", "token", 1);
    }

    // The control stream of a bot that was let in.
    auto greeted(Process& bot) {
        const auto stream = bots_.next();
        hello_ = stream->hear();
        ToBot greeting;
        greeting.mutable_greeting()->set_name("me");
        stream->tell(greeting);
        EXPECT_EQ(bot.line(), "attending at " + url_ + " as me");
        return stream;
    }

    // Invites, and gives the stream of the seat.
    template <class Stream>
    auto seat(Stream& control) {
        invite(control);
        const auto seat = seats_.next();
        take_ = seat->hear();
        EXPECT_EQ(take_.take().key(), KEY);
        return seat;
    }

    template <class Stream>
    static void invite(Stream& control) {
        ToBot message;
        message.mutable_invitation()->set_key(KEY);
        message.mutable_invitation()->set_service(c4::ConnectFourBot::service_full_name());
        control.tell(message);
    }

    // The bot leaves in order.
    template <class Stream>
    void leaves(Stream& control, Process& bot) {
        EXPECT_TRUE(control.hear().has_drain());
        EXPECT_TRUE(control.is_half_closed());
        bots_.end(control);
        EXPECT_EQ(bot.exit_code(), 0);
    }

    template <class Stream>
    static void tell(Stream& seat, const c4::ConnectFourCall& call) {
        ToSeat message;
        message.set_call(call.SerializeAsString());
        seat.tell(message);
    }

    template <class Stream>
    static c4::ConnectFourAnswer ask(Stream& seat, const c4::ConnectFourCall& call) {
        tell(seat, call);
        c4::ConnectFourAnswer answer;
        EXPECT_TRUE(answer.ParseFromString(seat.hear().answer()));
        return answer;
    }

    Streams<FromBot, ToBot> bots_;
    Streams<FromSeat, ToSeat> seats_;
    std::string url_;
    FromBot hello_;
    FromSeat take_;

private:
    grpc::Status Attend(grpc::ServerContext* context,
                        grpc::ServerReaderWriter<ToBot, FromBot>* stream) override {
        return is_known(*context) ? bots_.hold(*context, *stream) : UNKNOWN;
    }
    grpc::Status Play(grpc::ServerContext* context,
                      grpc::ServerReaderWriter<ToSeat, FromSeat>* stream) override {
        return is_known(*context) ? seats_.hold(*context, *stream) : UNKNOWN;
    }
    static bool is_known(const grpc::ServerContext& context) {
        const auto found = context.client_metadata().find("authorization");
        return found != context.client_metadata().end() && found->second == "Bearer " + TOKEN;
    }

    const grpc::Status UNKNOWN{StatusCode::UNAUTHENTICATED, "this token is not known"};
    std::unique_ptr<grpc::Server> server_;
};

}  // namespace

TEST_F(Join, a_bot_joins_and_plays) {
    Process bot(nullptr, "connect-four-only");
    const auto control = greeted(bot);
    ASSERT_EQ(hello_.hello().services_size(), 1);
    EXPECT_EQ(hello_.hello().services(0), "games.connect_four.v1.ConnectFourBot");
    ToBot ping;
    ping.mutable_ping()->set_number(7);
    control->tell(ping);
    EXPECT_EQ(control->hear().pong().number(), 7u);
    const auto seat = this->seat(*control);
    EXPECT_EQ(take_.take().calls(), 0u);
    EXPECT_EQ(ask(*seat, start<c4::ConnectFourCall>("a")).ready().bot(), "subject");
    // It only keeps the stream open.
    seat->tell(ToSeat());
    EXPECT_EQ(seat->hear().message_case(), FromSeat::MESSAGE_NOT_SET);
    const auto answer = ask(*seat, get_point(41));
    EXPECT_EQ(answer.number(), 41u);
    EXPECT_EQ(answer.point().x(), 8);
    tell(*seat, over<c4::ConnectFourCall>("four in a row"));
    seats_.end(*seat);
    EXPECT_EQ(bot.lines(2), (std::vector<std::string>{"made a seat 1", "thinking a"}));
    bot.line();
    EXPECT_EQ(bot.lines(2), (std::vector<std::string>{"game_over four in a row", "dropped a"}));
    // An orderly stop.
    bot.signal(SIGTERM);
    leaves(*control, bot);
}

TEST_F(Join, a_bot_that_was_cut_off_comes_back_to_its_game) {
    Process bot(nullptr);
    const auto control = greeted(bot);
    auto seat = this->seat(*control);
    tell(*seat, start<c4::ConnectFourCall>("a"));
    std::string answer = seat->hear().answer();
    for (int calls = 1; calls < 3; ++calls) {
        seats_.end(*seat, {StatusCode::UNAVAILABLE, "as the test wants it"});
        // It waits for the bot, which knows that already.
        seat = this->seat(*control);
        EXPECT_EQ(take_.take().calls(), static_cast<unsigned>(calls));
        EXPECT_EQ(take_.take().answer(), answer);
        tell(*seat, get_point(calls));
        answer = seat->hear().answer();
    }
    // It is reached in another way, and plays on there.
    bots_.end(*control, {StatusCode::UNAVAILABLE, "as the test wants it"});
    EXPECT_EQ(bot.line(), "made a seat 1");
    bot.lines(4);
    const auto again = greeted(bot);
    const auto back = seats_.next();
    const auto take = back->hear().take();
    EXPECT_EQ(take.calls(), 3u);
    EXPECT_EQ(take.answer(), answer);
    EXPECT_TRUE(seat->is_closed());
    EXPECT_EQ(ask(*back, get_point(3)).number(), 3u);
    seats_.end(*back);
    bot.lines(2);
    EXPECT_EQ(bot.line(), "dropped a");
}

TEST_F(Join, what_a_bot_throws_ends_its_game) {
    Process bot(nullptr);
    const auto control = greeted(bot);
    const auto seat = this->seat(*control);
    EXPECT_TRUE(ask(*seat, start<c4::ConnectFourCall>("throw")).has_ready());
    tell(*seat, get_point(1));
    const auto failure = seat->hear().failure();
    EXPECT_EQ(failure.code(), static_cast<unsigned>(StatusCode::INTERNAL));
    EXPECT_EQ(failure.message(), "exception in get_point: std::out_of_range: no column has room");
    EXPECT_TRUE(seat->is_half_closed());
    seats_.end(*seat);
}

TEST_F(Join, a_search_can_see_that_its_game_was_cut_off) {
    Process bot(nullptr);
    const auto control = greeted(bot);
    const auto seat = this->seat(*control);
    EXPECT_TRUE(ask(*seat, start<c4::ConnectFourCall>("search")).has_ready());
    tell(*seat, get_point(1));
    EXPECT_EQ(bot.lines(2), (std::vector<std::string>{"made search seat 1", "thinking search"}));
    seats_.end(*seat, {StatusCode::NOT_FOUND, "it came back too late"});
    EXPECT_EQ(bot.line().substr(0, 9), "get_point");
    EXPECT_EQ(bot.line(), "dropped search");
}

TEST_F(Join, a_bot_stops_though_a_callback_never_returns) {
    Process bot(nullptr);
    const auto control = greeted(bot);
    const auto seat = this->seat(*control);
    EXPECT_TRUE(ask(*seat, start<c4::ConnectFourCall>("spin")).has_ready());
    tell(*seat, get_point(1));
    EXPECT_EQ(bot.lines(2), (std::vector<std::string>{"made spin seat 1", "thinking spin"}));
    bot.signal(SIGTERM);
    leaves(*control, bot);
}

TEST_F(Join, a_bot_dials_again_where_nothing_is_heard) {
    Process bot(nullptr);
    greeted(bot);
    const auto control = greeted(bot);
    bots_.end(*control, {StatusCode::PERMISSION_DENIED, "not any more"});
    EXPECT_EQ(bot.exit_code(), 1);
    EXPECT_EQ(bot.errors(), url_ + ": nothing is heard of it; it is tried again\n" +
                                "could not join: " + url_ + ": not any more\n");
}

TEST_F(Join, a_bot_whose_place_another_has_ends) {
    Process bot(nullptr);
    const auto control = greeted(bot);
    ToBot message;
    message.mutable_superseded();
    control->tell(message);
    EXPECT_EQ(bot.exit_code(), 1);
    EXPECT_NE(bot.errors().find("another process has joined with the same token"),
              std::string::npos);
}

TEST_F(Join, a_bot_that_is_not_let_in_says_why) {
    const std::string unknown = "arena_" + std::string(64, '6');
    joins(url_, unknown);
    Process refused(nullptr);
    EXPECT_EQ(refused.exit_code(), 1);
    EXPECT_EQ(refused.errors(), "could not join: " + url_ + ": this token is not known\n");
    joins(url_, TOKEN);
    Process bot(nullptr);
    bots_.end(*bots_.next(), {StatusCode::UNIMPLEMENTED, ""});
    EXPECT_EQ(bot.exit_code(), 1);
    EXPECT_NE(bot.errors().find("`arena serve --lobby FILE` opens it"), std::string::npos);
}

TEST_F(Join, what_can_not_be_joined_is_named) {
    const auto says = [](const std::string& words) {
        Process bot(nullptr);
        EXPECT_EQ(bot.exit_code(), 1);
        const auto errors = bot.errors();
        EXPECT_NE(errors.find(words), std::string::npos) << errors;
        EXPECT_EQ(errors.find("secret"), std::string::npos) << errors;
    };
    for (const std::string address :
         {"", "arena.example:5", "https://arena.example", "https://you@arena.example:5",
          "https://arena.example:5/lobby", "unix:arena", "http://:5", "https://arena.example:65536"}) {
        joins(address, TOKEN);
        says("BOT_JOIN is \"" + address + "\": expected https://HOST:PORT");
    }
    for (const std::string address : {"http://arena.example:5", "http://127.example:5"}) {
        joins(address, TOKEN);
        says("it has no TLS");
    }
    for (const auto& text : {std::string(), std::string("secret"), TOKEN + "\n" + TOKEN}) {
        joins("https://arena.example:5", text);
        says("token: expected one token: arena_ and 64 hexadecimal digits");
    }
    joins("https://arena.example:5", TOKEN);
    setenv("BOT_CA", "absent.pem", 1);
    says("could not read BOT_CA absent.pem");
    unsetenv("BOT_CA");
    setenv("BOT_TOKEN_FILE", "absent", 1);
    says("could not read BOT_TOKEN_FILE absent");
    setenv("BOT_TOKEN_FILE", ".", 1);
    says(".: expected one token");
    unsetenv("BOT_TOKEN_FILE");
    says("BOT_TOKEN_FILE must name the file");
}
