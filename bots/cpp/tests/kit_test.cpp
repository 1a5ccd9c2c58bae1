// The kit from outside: a real process, and a real client that says what a referee would.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <future>

#include "bot_arena/bot.hpp"
#include "games/big_two/v1/big_two.grpc.pb.h"
#include "games/mahjong/v1/mahjong.grpc.pb.h"
#include "games/othello/v1/othello.grpc.pb.h"
#include "harness.hpp"

namespace {

namespace mj = games::mahjong::v1;
namespace b2 = games::big_two::v1;
namespace oth = games::othello::v1;
using grpc::StatusCode;

std::shared_ptr<grpc::Channel> dial(const std::string& address) {
    const std::string target = address.rfind("tcp:", 0) == 0 ? address.substr(4) : address;
    return grpc::CreateChannel(target, grpc::InsecureChannelCredentials());
}

template <class Game, class Call, class Answer>
class Stream {
public:
    explicit Stream(const std::shared_ptr<grpc::Channel>& channel) : stub_(Game::NewStub(channel)) {
        context_.set_deadline(std::chrono::system_clock::now() + LONG);
        stream_ = stub_->Play(&context_);
    }

    void tell(const Call& call) { EXPECT_TRUE(stream_->Write(call)); }

    Answer answer() {
        Answer answer;
        EXPECT_TRUE(stream_->Read(&answer)) << "no answer";
        return answer;
    }

    Answer ask(const Call& call) {
        tell(call);
        return answer();
    }

    // Closes our side and waits for the other's: nothing more may be said.
    grpc::Status close() {
        stream_->WritesDone();
        return end();
    }

    // Waits for the end.
    grpc::Status end() {
        Answer answer;
        while (stream_->Read(&answer)) ADD_FAILURE() << "an answer: " << answer.ShortDebugString();
        return stream_->Finish();
    }

    void cancel() {
        context_.TryCancel();
        EXPECT_EQ(end().error_code(), StatusCode::CANCELLED);
    }

private:
    std::unique_ptr<typename Game::Stub> stub_;
    grpc::ClientContext context_;
    std::unique_ptr<grpc::ClientReaderWriter<Call, Answer>> stream_;
};

using C4 = Stream<c4::ConnectFourBot, c4::ConnectFourCall, c4::ConnectFourAnswer>;
using Mj = Stream<mj::MahjongBot, mj::MahjongCall, mj::MahjongAnswer>;
using B2 = Stream<b2::BigTwoBot, b2::BigTwoCall, b2::BigTwoAnswer>;
using Oth = Stream<oth::OthelloBot, oth::OthelloCall, oth::OthelloAnswer>;

using Lines = std::vector<std::string>;

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

// One call of one message by bytes, for services that we have no stubs of.
std::string unary(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                  const std::string& request, grpc::Status* status) {
    grpc::GenericStub stub(channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + LONG);
    const grpc::Slice slice(request);
    const grpc::ByteBuffer sent(&slice, 1);
    grpc::ByteBuffer received;
    std::promise<void> done;
    stub.UnaryCall(&context, path, {}, &sent, &received, [&](grpc::Status ended) {
        *status = std::move(ended);
        done.set_value();
    });
    done.get_future().wait();
    std::vector<grpc::Slice> slices;
    if (!status->ok() || !received.Dump(&slices).ok()) return "";
    std::string bytes;
    for (const auto& part : slices) {
        bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
    }
    return bytes;
}

// The status code that a health check ends with, or its answer as it is on the wire.
std::string health(const std::shared_ptr<grpc::Channel>& channel, const std::string& service) {
    grpc::Status status;
    std::string request;
    if (!service.empty()) request = std::string("\x0a") + static_cast<char>(service.size()) + service;
    const auto bytes = unary(channel, "/grpc.health.v1.Health/Check", request, &status);
    return status.ok() ? bytes : std::to_string(status.error_code());
}

// Whether this machine has the address ::1.
bool has_ipv6() {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    const int probe = socket(AF_INET6, SOCK_STREAM, 0);
    const bool bound =
        probe >= 0 && bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    if (probe >= 0) close(probe);
    return bound;
}

const std::string SERVING("\x08\x01");

}  // namespace

TEST_F(Kit, answers_start_with_ready_and_a_question_with_its_number) {
    Process bot("unix:bot");
    C4 stream(dial(bot.listening()));
    const auto ready = stream.ask(start<c4::ConnectFourCall>("a"));
    EXPECT_EQ(ready.number(), 0u);
    EXPECT_TRUE(ready.has_number());
    EXPECT_EQ(ready.ready().bot(), "subject");
    EXPECT_EQ(ready.ready().version(), "2.5");
    EXPECT_EQ(ready.ready().max_games(), 2u);
    EXPECT_TRUE(ready.ready().can_resume());
    const auto answer = stream.ask(get_point(41));
    EXPECT_EQ(answer.number(), 41u);
    EXPECT_EQ(answer.point().x(), 8);
    EXPECT_EQ(answer.point().y(), 1);
    stream.tell(over<c4::ConnectFourCall>("four in a row"));
    EXPECT_TRUE(stream.close().ok());
    EXPECT_EQ(bot.lines(5), (Lines{"made a seat 1", "thinking a",
                                   "get_point 9x10 last -1,-1 no 3,4 limit 2000000007 points 9",
                                   "game_over four in a row", "dropped a"}));
}

TEST_F(Kit, does_not_name_a_foul_and_an_ending_of_a_newer_referee) {
    Process bot("unix:bot");
    C4 stream(dial(bot.listening()));
    EXPECT_TRUE(stream.ask(start<c4::ConnectFourCall>("a")).has_ready());
    auto call = over<c4::ConnectFourCall>("something new");
    call.mutable_over()->set_ending(static_cast<arena::v1::Ending>(99));
    call.mutable_over()->add_results()->set_foul(static_cast<arena::v1::FoulKind>(99));
    stream.tell(call);
    EXPECT_TRUE(stream.close().ok());
    EXPECT_EQ(bot.lines(3),
              (Lines{"made a seat 1",
                     "game_over something new, FOUL_KIND_UNSPECIFIED, ENDING_UNSPECIFIED",
                     "dropped a"}));
}

TEST_F(Kit, catches_up_and_answers_no_old_question) {
    Process bot("unix:bot");
    C4 stream(dial(bot.listening()));
    auto begun = start<c4::ConnectFourCall>("a");
    begun.mutable_past_answer()->mutable_ready();
    stream.tell(begun);
    auto past = get_point(1);
    past.mutable_past_answer()->mutable_point()->set_x(5);
    past.mutable_past_answer()->mutable_point()->set_y(6);
    stream.tell(past);
    EXPECT_EQ(stream.ask(get_point(2)).number(), 2u);
    EXPECT_TRUE(stream.close().ok());
    EXPECT_EQ(bot.lines(2), (Lines{"made a seat 1", "resumed_point 10 5,6"}));
}

TEST_F(Kit, calls_back_for_all_that_happens_in_mahjong) {
    Process bot("unix:bot");
    Mj stream(dial(bot.listening()));
    auto begun = start<mj::MahjongCall>("a");
    begun.mutable_round()->set_missing_suit_required(true);
    begun.mutable_round()->set_wall(82);
    EXPECT_TRUE(stream.ask(begun).has_ready());
    mj::MahjongCall draw;
    for (auto tile : {mj::TILE_C1, mj::TILE_B2, mj::TILE_D9}) {
        draw.mutable_get_draw()->add_tiles(tile);
    }
    stream.tell(draw);
    mj::MahjongCall discard;
    discard.set_number(1);
    discard.mutable_limit()->set_nanos(5);
    discard.mutable_request_discard();
    EXPECT_EQ(stream.ask(discard).discard(), mj::TILE_D9);
    discard.mutable_past_answer()->set_discard(mj::TILE_C1);
    stream.tell(discard);
    mj::MahjongCall opp;
    opp.mutable_get_opp_discard()->set_tile(mj::TILE_B7);
    stream.tell(opp);
    mj::MahjongCall win;
    win.set_number(2);
    win.mutable_request_win()->set_winning_tile(mj::TILE_C5);
    EXPECT_EQ(stream.ask(win).win(), mj::CLAIM_PASS);
    win.mutable_request_win()->set_is_self_draw(true);
    EXPECT_EQ(stream.ask(win).win(), mj::CLAIM_WIN);
    win.mutable_past_answer()->set_win(mj::CLAIM_PASS);
    stream.tell(win);
    stream.tell(over<mj::MahjongCall>("won"));
    EXPECT_TRUE(stream.close().ok());
    EXPECT_EQ(bot.lines(11),
              (Lines{"get_round 1 82", "get_draw 1", "get_draw 12", "get_draw 29",
                     "request_discard 5", "resumed_discard 1", "get_opp_discard 17",
                     "request_win 5 0", "request_win 5 1", "resumed_win 5 1 0", "game_over won"}));
}

TEST_F(Kit, calls_back_for_all_that_happens_in_big_two) {
    Process bot("unix:bot");
    B2 stream(dial(bot.listening()));
    auto begun = start<b2::BigTwoCall>("a");
    for (int cards : {14, 14, 13, 13}) begun.mutable_table()->add_cards_left(cards);
    begun.mutable_get_deal()->add_cards(b2::CARD_TWO_OF_SPADES);
    begun.mutable_get_deal()->add_cards(b2::CARD_JOKER_1);
    EXPECT_TRUE(stream.ask(begun).has_ready());
    b2::BigTwoCall play;
    play.mutable_get_play()->set_seat(3);
    play.mutable_get_play()->mutable_play()->add_cards(b2::CARD_FOUR_OF_CLUBS);
    stream.tell(play);
    b2::BigTwoCall left;
    left.mutable_forfeit()->set_seat(2);
    left.mutable_forfeit()->set_place(4);
    stream.tell(left);
    b2::BigTwoCall ask;
    ask.set_number(1);
    ask.mutable_request_play();
    EXPECT_EQ(stream.ask(ask).play().cards_size(), 2);
    ask.mutable_past_answer()->mutable_play()->add_cards(b2::CARD_JOKER_1);
    stream.tell(ask);
    ask.mutable_past_answer()->mutable_pass();
    stream.tell(ask);
    ask.clear_past_answer();
    ask.mutable_request_play()->mutable_to_beat()->add_cards(b2::CARD_JOKER_2);
    EXPECT_TRUE(stream.ask(ask).has_pass());
    stream.tell(over<b2::BigTwoCall>("one is left"));
    EXPECT_TRUE(stream.close().ok());
    EXPECT_EQ(bot.lines(9), (Lines{"get_table 4", "get_deal 2", "get_play 3 1", "get_forfeit 2 4",
                                   "request_play 0", "resumed_play 1", "resumed_play -1",
                                   "request_play 1", "game_over one is left"}));
}

TEST_F(Kit, calls_back_for_all_that_happens_in_othello) {
    Process bot("unix:bot");
    Oth stream(dial(bot.listening()));
    auto begun = start<oth::OthelloCall>("a");
    begun.mutable_beginning()->set_board(std::string(64, 0));
    EXPECT_TRUE(stream.ask(begun).has_ready());
    oth::OthelloCall ask;
    ask.set_number(1);
    ask.mutable_request_move()->set_board(std::string("\0\7", 2) + std::string(62, 1));
    const auto answer = stream.ask(ask);
    EXPECT_EQ(answer.square().row(), 0u);
    EXPECT_EQ(answer.square().column(), 7u);
    ask.mutable_past_answer()->mutable_square()->set_row(0);
    ask.mutable_past_answer()->mutable_square()->set_column(7);
    stream.tell(ask);
    stream.tell(over<oth::OthelloCall>("full"));
    EXPECT_TRUE(stream.close().ok());
    EXPECT_EQ(bot.lines(4),
              (Lines{"get_beginning 64", "request_move 64", "resumed_move 0,7", "game_over full"}));
}

TEST_F(Kit, ignores_calls_and_fields_that_it_does_not_know) {
    Process bot("unix:bot");
    C4 stream(dial(bot.listening()));
    stream.ask(start<c4::ConnectFourCall>("a"));
    c4::ConnectFourCall unknown;
    unknown.set_number(1);
    unknown.GetReflection()->MutableUnknownFields(&unknown)->AddVarint(99, 7);
    stream.tell(unknown);
    auto ask = get_point(2);
    ask.GetReflection()->MutableUnknownFields(&ask)->AddLengthDelimited(77, "new");
    EXPECT_EQ(stream.ask(ask).number(), 2u);
    EXPECT_TRUE(stream.close().ok());
}

TEST_F(Kit, says_what_is_wrong_with_a_stream_that_makes_no_sense) {
    Process bot("unix:bot");
    const auto channel = dial(bot.listening());
    C4 early(channel);
    early.tell(get_point(1));
    EXPECT_EQ(early.end().error_code(), StatusCode::FAILED_PRECONDITION);
    C4 numberless(channel);
    numberless.ask(start<c4::ConnectFourCall>("a"));
    auto ask = get_point(1);
    ask.clear_number();
    numberless.tell(ask);
    EXPECT_EQ(numberless.end().error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(Kit, an_exception_ends_its_own_game_and_no_other) {
    Process bot("unix:bot");
    const auto channel = dial(bot.listening());
    C4 other(channel);
    other.ask(start<c4::ConnectFourCall>("a"));
    const std::vector<std::pair<std::string, std::string>> thrown{
        {"throw", "std::out_of_range: no column has room"},
        {"throw-int", "int"},
        {"throw-text", "no column has room"},
        {"throw-string", "no column has room"},
        {"throw-long", "std::runtime_error: " + std::string(956, 'x')},
        {"throw-wide", "std::runtime_error: " + repeated("棋", 318)},
        {"throw-gbk", "std::runtime_error: " + repeated("\xef\xbf\xbd", 4) + " 12"},
    };
    for (const auto& [id, words] : thrown) {
        C4 stream(channel);
        stream.ask(start<c4::ConnectFourCall>(id));
        stream.tell(get_point(1));
        const auto status = stream.end();
        EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
        EXPECT_EQ(status.error_message(), "exception in get_point: " + words);
    }
    C4 unborn(channel);
    unborn.tell(start<c4::ConnectFourCall>("throw-at-start"));
    EXPECT_EQ(unborn.end().error_message(),
              "exception in the constructor: std::runtime_error: can't begin");
    Oth nothing(channel);
    nothing.tell(start<oth::OthelloCall>("nothing"));
    EXPECT_EQ(nothing.end().error_message(),
              "the constructor returned nullptr: expected an object of the game's class");
    EXPECT_EQ(other.ask(get_point(1)).number(), 1u);
    EXPECT_TRUE(other.close().ok());
    bot.signal(SIGTERM);
    EXPECT_EQ(bot.exit_code(), 0);
    EXPECT_NE(bot.errors().find("exception in get_point: std::out_of_range: no column has room\n"),
              std::string::npos);
}

// Plays until this callback throws, in the call or before it.
template <class S, class Call>
void throws_in(const std::string& callback, const Call& begun, const std::optional<Call>& call) {
    Process bot("unix:bot", callback.c_str());
    S stream(dial(bot.listening()));
    stream.tell(begun);
    if (call) {
        stream.answer();
        stream.tell(*call);
    }
    EXPECT_EQ(stream.end().error_message(), "exception in " + callback + ": no luck");
}

TEST_F(Kit, an_exception_is_told_with_the_callback_that_threw_it) {
    auto point = get_point(1);
    const auto c4_begun = start<c4::ConnectFourCall>("a");
    throws_in<C4>("get_point", c4_begun, {point});
    point.mutable_past_answer()->mutable_point();
    throws_in<C4>("resumed_point", c4_begun, {point});
    throws_in<C4>("game_over", c4_begun, {over<c4::ConnectFourCall>("a draw")});

    auto mj_begun = start<mj::MahjongCall>("a");
    mj_begun.mutable_round();
    throws_in<Mj>("get_round", mj_begun, {});
    throws_in<Mj>("game_over", mj_begun, {over<mj::MahjongCall>("a draw")});
    mj::MahjongCall mahjong;
    mahjong.mutable_get_draw()->add_tiles(mj::TILE_C1);
    throws_in<Mj>("get_draw", mj_begun, {mahjong});
    mahjong.mutable_get_opp_discard();
    throws_in<Mj>("get_opp_discard", mj_begun, {mahjong});
    mahjong.set_number(1);
    mahjong.mutable_request_discard();
    throws_in<Mj>("request_discard", mj_begun, {mahjong});
    mahjong.mutable_past_answer();
    throws_in<Mj>("resumed_discard", mj_begun, {mahjong});
    mahjong.mutable_request_win();
    throws_in<Mj>("resumed_win", mj_begun, {mahjong});
    mahjong.clear_past_answer();
    throws_in<Mj>("request_win", mj_begun, {mahjong});

    auto b2_begun = start<b2::BigTwoCall>("a");
    b2_begun.mutable_table();
    b2_begun.mutable_get_deal();
    throws_in<B2>("get_table", b2_begun, {});
    throws_in<B2>("get_deal", b2_begun, {});
    throws_in<B2>("game_over", b2_begun, {over<b2::BigTwoCall>("a draw")});
    b2::BigTwoCall big_two;
    big_two.mutable_get_play();
    throws_in<B2>("get_play", b2_begun, {big_two});
    big_two.mutable_forfeit();
    throws_in<B2>("get_forfeit", b2_begun, {big_two});
    big_two.set_number(1);
    big_two.mutable_request_play();
    throws_in<B2>("request_play", b2_begun, {big_two});
    big_two.mutable_past_answer();
    throws_in<B2>("resumed_play", b2_begun, {big_two});

    auto oth_begun = start<oth::OthelloCall>("a");
    oth_begun.mutable_beginning();
    throws_in<Oth>("get_beginning", oth_begun, {});
    throws_in<Oth>("game_over", oth_begun, {over<oth::OthelloCall>("a draw")});
    oth::OthelloCall move;
    move.set_number(1);
    move.mutable_request_move();
    throws_in<Oth>("request_move", oth_begun, {move});
    move.mutable_past_answer();
    throws_in<Oth>("resumed_move", oth_begun, {move});
}

// Asks, and the answer is the author's error.
template <class S, class Call>
void refuses(S& stream, Call ask, const std::string& words) {
    ask.set_number(1);
    stream.tell(ask);
    const auto status = stream.end();
    EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
    EXPECT_EQ(status.error_message(), words);
}

TEST_F(Kit, an_invalid_answer_is_told_with_what_was_expected) {
    Process bot("unix:bot");
    const auto channel = dial(bot.listening());
    for (int tile : {-1, 0, 10, 30, 99}) {
        Mj stream(channel);
        stream.ask(start<mj::MahjongCall>("a"));
        // It discards what it has drawn.
        mj::MahjongCall draw;
        draw.mutable_get_draw()->add_tiles(static_cast<mj::Tile>(tile));
        stream.tell(draw);
        mj::MahjongCall ask;
        ask.mutable_request_discard();
        refuses(stream, ask, "request_discard returned " + std::to_string(tile) +
                                 ": expected a Tile of the hand");
    }
    const std::vector<std::pair<std::vector<int>, std::string>> plays{
        {{}, "no cards"},       {{0}, "a card 0"},         {{1, 55}, "a card 55"},
        {{-1}, "a card -1"},    {{7, 54, 7}, "the card 7 twice"},
    };
    for (const auto& [cards, found] : plays) {
        B2 stream(channel);
        auto begun = start<b2::BigTwoCall>("a");
        // It plays all that it is dealt.
        begun.mutable_get_deal();
        for (int card : cards) begun.mutable_get_deal()->add_cards(static_cast<b2::Card>(card));
        stream.ask(begun);
        b2::BigTwoCall ask;
        ask.mutable_request_play();
        refuses(stream, ask, "request_play returned " + found +
                                 ": expected Cards, each once, or nothing to pass");
    }
    const std::vector<std::pair<int, int>> squares{{9, 9}, {-1, 0}, {0, 8}, {8, 0}, {0, -1}};
    for (const auto& [row, column] : squares) {
        Oth stream(channel);
        stream.ask(start<oth::OthelloCall>("a"));
        // Its answer is on the board.
        oth::OthelloCall ask;
        ask.mutable_request_move()->set_board({static_cast<char>(row), static_cast<char>(column)});
        refuses(stream, ask, "request_move returned row " + std::to_string(row) + ", column " +
                                 std::to_string(column) +
                                 ": expected a Square with a row and a column of 0 to 7");
    }
}

TEST_F(Kit, a_cancelled_game_is_dropped_and_its_slot_free) {
    Process bot("unix:bot");
    const auto channel = dial(bot.listening());
    // More often than there are places.
    for (int i = 0; i < 5; ++i) {
        C4 stream(channel);
        stream.ask(start<c4::ConnectFourCall>("a"));
        stream.cancel();
        EXPECT_EQ(bot.lines(2), (Lines{"made a seat 1", "dropped a"}));
    }
}

TEST_F(Kit, a_game_that_is_cancelled_while_it_thinks_takes_no_slot) {
    Process bot("unix:bot");
    const auto channel = dial(bot.listening());
    for (int i = 0; i < 2; ++i) {
        C4 stream(channel);
        stream.ask(start<c4::ConnectFourCall>("spin"));
        stream.tell(get_point(1));
        EXPECT_EQ(bot.lines(2), (Lines{"made spin seat 1", "thinking spin"}));
        stream.cancel();
    }
    C4 stream(channel);
    stream.ask(start<c4::ConnectFourCall>("a"));
    EXPECT_TRUE(stream.close().ok());
}

TEST_F(Kit, a_search_can_see_that_its_game_was_cut_off) {
    Process bot("unix:bot");
    C4 stream(dial(bot.listening()));
    stream.ask(start<c4::ConnectFourCall>("search"));
    stream.tell(get_point(1));
    EXPECT_EQ(bot.lines(2), (Lines{"made search seat 1", "thinking search"}));
    stream.cancel();
    EXPECT_EQ(bot.line().substr(0, 9), "get_point");
    EXPECT_EQ(bot.line(), "dropped search");
}

TEST_F(Kit, refuses_more_games_than_it_plays_at_once) {
    Process bot("unix:bot");
    const auto channel = dial(bot.listening());
    C4 one(channel);
    Mj two(channel);
    one.ask(start<c4::ConnectFourCall>("a"));
    two.ask(start<mj::MahjongCall>("b"));
    C4 refused(channel);
    const auto status = refused.end();
    EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(status.error_message(),
              "max_games is 2, and as many games are running");
    EXPECT_EQ(health(channel, ""), SERVING);
    // A game that is over takes no place, though its stream is open.
    one.tell(over<c4::ConnectFourCall>("a draw"));
    C4 three(channel);
    EXPECT_TRUE(three.ask(start<c4::ConnectFourCall>("c")).has_ready());
    EXPECT_TRUE(one.close().ok());
    EXPECT_TRUE(two.close().ok());
    EXPECT_TRUE(three.close().ok());
}

TEST_F(Kit, a_flood_of_streams_costs_its_games_nothing) {
    Process bot("unix:bot");
    const auto channel = dial(bot.listening());
    C4 one(channel);
    C4 two(channel);
    one.ask(start<c4::ConnectFourCall>("a"));
    two.ask(start<c4::ConnectFourCall>("b"));
    // Far more than it has threads.
    std::vector<std::unique_ptr<C4>> flood;
    for (int i = 0; i < 50; ++i) flood.push_back(std::make_unique<C4>(channel));
    EXPECT_EQ(one.ask(get_point(1)).number(), 1u);
    for (auto& stream : flood) {
        EXPECT_EQ(stream->end().error_code(), StatusCode::RESOURCE_EXHAUSTED);
    }
    EXPECT_EQ(two.ask(get_point(1)).number(), 1u);
    EXPECT_TRUE(one.close().ok());
    C4 three(channel);
    EXPECT_TRUE(three.ask(start<c4::ConnectFourCall>("c")).has_ready());
}

TEST_F(Kit, does_not_implement_a_game_that_it_does_not_play) {
    Process bot("unix:bot", "connect-four-only");
    const auto channel = dial(bot.listening());
    Mj stream(channel);
    EXPECT_EQ(stream.end().error_code(), StatusCode::UNIMPLEMENTED);
    EXPECT_EQ(health(channel, "games.connect_four.v1.ConnectFourBot"), SERVING);
    EXPECT_EQ(health(channel, "games.mahjong.v1.MahjongBot"),
              std::to_string(StatusCode::NOT_FOUND));
}

TEST_F(Kit, serves_health_and_reflection) {
    Process bot("unix:bot");
    const auto channel = dial(bot.listening());
    grpc::Status status;
    // list_services: "".
    const auto services = unary(
        channel, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        std::string("\x3a\x00", 2), &status);
    EXPECT_TRUE(status.ok()) << status.error_message();
    for (const std::string name :
         {"games.connect_four.v1.ConnectFourBot", "games.mahjong.v1.MahjongBot",
          "games.big_two.v1.BigTwoBot", "games.othello.v1.OthelloBot"}) {
        EXPECT_EQ(health(channel, name), SERVING) << name;
        EXPECT_NE(services.find(name), std::string::npos) << name;
    }
    EXPECT_EQ(health(channel, ""), SERVING);
}

TEST_F(Kit, stops_at_once_where_no_game_runs) {
    for (int signal : {SIGTERM, SIGINT}) {
        Process bot("unix:bot");
        const auto channel = dial(bot.listening());
        EXPECT_EQ(health(channel, ""), SERVING);
        bot.signal(signal);
        EXPECT_EQ(bot.exit_code(), 0);
        EXPECT_FALSE(fs::exists("bot"));
    }
}

TEST_F(Kit, ends_its_games_before_it_stops_and_takes_no_new_one) {
    Process bot("unix:bot");
    const auto channel = dial(bot.listening());
    C4 stream(channel);
    stream.ask(start<c4::ConnectFourCall>("a"));
    bot.signal(SIGTERM);
    // From when on it is deaf to others can't be seen but by trying.
    for (grpc::Status refused; refused.error_code() != StatusCode::UNAVAILABLE;) {
        C4 other(channel);
        refused = other.close();
        ASSERT_TRUE(refused.ok() || refused.error_code() == StatusCode::UNAVAILABLE);
    }
    EXPECT_EQ(stream.ask(get_point(1)).number(), 1u);
    EXPECT_TRUE(stream.close().ok());
    EXPECT_EQ(bot.exit_code(), 0);
    EXPECT_FALSE(fs::exists("bot"));
}

TEST_F(Kit, stops_though_a_callback_never_returns) {
    Process bot("unix:bot");
    C4 stream(dial(bot.listening()));
    stream.ask(start<c4::ConnectFourCall>("spin"));
    stream.tell(get_point(1));
    EXPECT_EQ(bot.lines(2), (Lines{"made spin seat 1", "thinking spin"}));
    bot.signal(SIGTERM);
    EXPECT_EQ(bot.exit_code(), 0);
    EXPECT_FALSE(fs::exists("bot"));
}

TEST_F(Kit, listens_where_it_is_told) {
    for (const std::string listen : {"unix:bot", "unix:a b%20c#?.sock"}) {
        Process bot(listen.c_str());
        EXPECT_EQ(bot.listening(), listen);
        EXPECT_TRUE(fs::is_socket(listen.substr(5)));
        bot.signal(SIGTERM);
        EXPECT_EQ(bot.exit_code(), 0);
        EXPECT_TRUE(fs::is_empty("."));
    }
    const std::string path = (fs::current_path() / "bot").string();
    Process bot(("unix://" + path).c_str());
    EXPECT_EQ(bot.listening(), "unix:" + path);
    EXPECT_EQ(health(dial("unix:" + path), ""), SERVING);
    for (const std::string host : {"127.0.0.1", "[::1]", "localhost"}) {
        if (host == "[::1]" && !has_ipv6()) {
            std::cout << "::1 can't be bound here: it is left out\n";
            continue;
        }
        Process tcp(("tcp:" + host + ":0").c_str());
        const auto address = tcp.listening();
        EXPECT_EQ(address.find("tcp:" + host + ":"), 0u) << address;
        EXPECT_NE(address, "tcp:" + host + ":0");
        EXPECT_EQ(health(dial(address), ""), SERVING);
    }
}

TEST_F(Kit, listens_on_the_standard_port_where_nobody_says) {
    Process bot(nullptr);
    // Unless somebody else has it.
    if (bot.line() == "listening on tcp:127.0.0.1:50051") return;
    EXPECT_EQ(bot.exit_code(), 1);
    EXPECT_NE(bot.errors().find("could not listen on tcp:127.0.0.1:50051\n"), std::string::npos);
}

TEST_F(Kit, says_what_is_wrong_with_an_address) {
    for (const std::string listen :
         {"", "bot", "unix:", "unix://", "tcp:", "tcp:localhost", "tcp::5", "tcp:host:", "tcp:h:x",
          "tcp:h:65536", "tcp:h:999999999999", "tcp:::1:5", "udp:h:5", "TCP:h:5"}) {
        Process bot(listen.c_str());
        EXPECT_EQ(bot.exit_code(), 1) << listen;
        EXPECT_EQ(bot.errors(),
                  "BOT_LISTEN is \"" + listen + "\": expected unix:PATH or tcp:HOST:PORT\n");
    }
}

TEST_F(Kit, says_that_its_main_was_never_called) {
    Process bot("unix:bot", "never-served");
    EXPECT_EQ(bot.exit_code(), 0);
    EXPECT_EQ(bot.errors(), "Bot(\"subject\", ...) was never served: call its main()\n");
}

TEST_F(Kit, says_where_it_could_not_listen) {
    Process first("tcp:127.0.0.1:0");
    const auto taken = first.listening();
    const std::string nowhere = "unix:no/such/folder/bot";
    const std::string too_long = "unix:" + std::string(200, 'x');
    std::ofstream("file") << "mine";
    for (const auto& listen : {taken, nowhere, too_long, std::string("unix:file")}) {
        Process bot(listen.c_str());
        EXPECT_EQ(bot.exit_code(), 1) << listen;
        EXPECT_NE(bot.errors().find("could not listen on " + listen + "\n"), std::string::npos);
    }
    EXPECT_TRUE(fs::is_regular_file("file"));
}

TEST_F(Kit, takes_the_place_of_a_socket_that_was_left_behind) {
    {
        Process killed("unix:bot");
        killed.listening();
        killed.signal(SIGKILL);
        EXPECT_EQ(killed.exit_code(), -SIGKILL);
    }
    EXPECT_TRUE(fs::is_socket("bot"));
    Process bot("unix:bot");
    EXPECT_EQ(health(dial(bot.listening()), ""), SERVING);
}

TEST(Utf8, is_kept_where_it_is_and_replaced_where_it_is_not) {
    const std::string bad = "\xef\xbf\xbd";
    for (const std::string good : {"", "a", "\x7f", "\xc2\x80", "é", "棋", "\xef\xbf\xbf", "\xed\x9f\xbf",
                                   "\xee\x80\x80", "😀", "\xf4\x8f\xbf\xbf"}) {
        EXPECT_EQ(bot_arena::as_utf8(good, 100), good);
    }
    const std::vector<std::pair<std::string, std::string>> replaced{
        {"\x80", bad},
        {"\xff", bad},
        {"a\xc3", "a" + bad},
        {"\xc3(", bad + "("},
        {"\xe6\xa3", bad + bad},                      // Cut off.
        {"\xc0\xaf", bad + bad},                      // Longer than it need be.
        {"\xe0\x80\xaf", bad + bad + bad},           // The same.
        {"\xed\xa0\x80", bad + bad + bad},           // A surrogate.
        {"\xf4\x90\x80\x80", bad + bad + bad + bad},  // Above U+10FFFF.
    };
    for (const auto& [text, words] : replaced) EXPECT_EQ(bot_arena::as_utf8(text, 100), words);
    EXPECT_EQ(bot_arena::as_utf8("棋棋", 5), "棋");
    EXPECT_EQ(bot_arena::as_utf8("棋\xff", 5), "棋");
    EXPECT_EQ(bot_arena::as_utf8("abc", 2), "ab");
}
