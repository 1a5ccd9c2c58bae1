package botarena_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"botarena"
	arenav1 "botarena/proto/arena/v1"
	bigtwov1 "botarena/proto/games/big_two/v1"
	connectfourv1 "botarena/proto/games/connect_four/v1"
	mahjongv1 "botarena/proto/games/mahjong/v1"
	othellov1 "botarena/proto/games/othello/v1"
)

// hears is a bot of every game that keeps what it is told, and what it answers.
type hears struct {
	told   *[]string
	point  botarena.Point
	tile   botarena.Tile
	cards  []botarena.Card
	square botarena.Square
}

func (h *hears) hear(format string, arguments ...any) error {
	*h.told = append(*h.told, fmt.Sprintf(format, arguments...))
	return nil
}

func (h *hears) GameOver(_ context.Context, over botarena.GameOver) error {
	return h.hear("over %s", over.Reason)
}

func (h *hears) GetPoint(_ context.Context, ask botarena.GetPoint) (botarena.Point, error) {
	return h.point, h.hear("%v %v %v %v", ask.Points(), ask.Last, ask.Forbidden, ask.Cell(1, 0))
}

func (h *hears) ResumedPoint(
	_ context.Context, ask botarena.GetPoint, point botarena.Point,
) error {
	return h.hear("resumed %v %v", ask.Points(), point)
}

func (h *hears) GetRound(_ context.Context, round botarena.Round) error {
	return h.hear("round %+v", round)
}

func (h *hears) GetDraw(_ context.Context, tile botarena.Tile) error { return h.hear("draw %v", tile) }

func (h *hears) RequestDiscard(context.Context) (botarena.Tile, error) {
	return h.tile, h.hear("discard")
}

func (h *hears) GetOppDiscard(_ context.Context, tile botarena.Tile) error {
	return h.hear("opponent %v", tile)
}

func (h *hears) RequestWin(_ context.Context, tile botarena.Tile, own bool) (bool, error) {
	return own, h.hear("win %v %v", tile, own)
}

func (h *hears) ResumedDiscard(_ context.Context, tile botarena.Tile) error {
	return h.hear("resumed %v", tile)
}

func (h *hears) ResumedWin(_ context.Context, tile botarena.Tile, own, win bool) error {
	return h.hear("resumed %v %v %v", tile, own, win)
}

func (h *hears) GetTable(_ context.Context, table botarena.Table) error {
	return h.hear("table %+v", table)
}

func (h *hears) GetDeal(_ context.Context, cards []botarena.Card) error {
	return h.hear("deal %v", cards)
}

func (h *hears) GetPlay(_ context.Context, play botarena.GetPlay) error {
	return h.hear("play %+v", play)
}

func (h *hears) GetForfeit(_ context.Context, seat, place int) error {
	return h.hear("forfeit %d %d", seat, place)
}

func (h *hears) RequestPlay(
	_ context.Context, ask botarena.RequestPlay,
) ([]botarena.Card, error) {
	return h.cards, h.hear("ask %+v", ask)
}

func (h *hears) ResumedPlay(
	_ context.Context, ask botarena.RequestPlay, cards []botarena.Card,
) error {
	return h.hear("resumed %+v %v", ask, cards)
}

func (h *hears) GetBeginning(_ context.Context, beginning botarena.Beginning) error {
	return h.hear("beginning %d %d %v", len(beginning.Board), beginning.Turn, beginning.Previous)
}

func (h *hears) RequestMove(
	_ context.Context, ask botarena.RequestMove,
) (botarena.Square, error) {
	return h.square, h.hear("move %d %v %v", len(ask.Board), ask.Previous.Square, ask.Previous.Passed)
}

func (h *hears) ResumedMove(
	_ context.Context, ask botarena.RequestMove, square botarena.Square,
) error {
	return h.hear("resumed %v %v %v", ask.Previous.Square, ask.Previous.Passed, square)
}

// playingAll is a bot that plays every game with this object.
func playingAll(object *hears) botarena.Bot {
	object.told = new([]string)
	return botarena.Bot{
		ConnectFour: func(context.Context, botarena.GameStart) (botarena.ConnectFourBot, error) {
			return object, nil
		},
		Mahjong: func(context.Context, botarena.GameStart) (botarena.MahjongBot, error) {
			return object, nil
		},
		BigTwo: func(context.Context, botarena.GameStart) (botarena.BigTwoBot, error) {
			return object, nil
		},
		Othello: func(context.Context, botarena.GameStart) (botarena.OthelloBot, error) {
			return object, nil
		},
		MaxGames: 4,
	}
}

func expectTold(t *testing.T, object *hears, expected ...string) {
	t.Helper()
	if !slices.Equal(*object.told, expected) {
		t.Errorf("it was told\n%s\nexpected\n%s",
			strings.Join(*object.told, "\n"), strings.Join(expected, "\n"))
	}
}

func TestConnectFourByItsCallbacks(t *testing.T) {
	object := &hears{point: botarena.Point{X: 1, Y: 2}}
	conn, _ := serve(t, playingAll(object))
	s := started(t, conn)
	ask := func(n uint32, past *answer) *call {
		return &call{
			Number: number(n), PastAnswer: past,
			Call: &connectfourv1.ConnectFourCall_GetPoint{GetPoint: &connectfourv1.GetPoint{
				M: 2, N: 3, Top: []byte{0, 1, 2}, Board: []byte{2, 0, 0, 1, 0, 0},
				LastX: 1, LastY: 0, NoX: -1, NoY: -1,
			}},
		}
	}
	x, y := int32(0), int32(2)
	s.send(ask(1, &answer{Answer: &connectfourv1.ConnectFourAnswer_Point{
		Point: &connectfourv1.Point{X: &x, Y: &y},
	}}))
	got := s.ask(ask(2, nil))
	if got.GetNumber() != 2 || got.GetPoint().GetX() != 1 || got.GetPoint().GetY() != 2 {
		t.Errorf("%v", got)
	}
	s.send(overCall("four in a row"))
	s.close()
	expectTold(t, object, "resumed [(0, 1) (1, 2)] (0, 2)",
		"[(0, 1) (1, 2)] (1, 0) <nil> 1", "over four in a row")
}

func TestABoardKnowsItsCells(t *testing.T) {
	ask := botarena.GetPoint{M: 2, N: 3, Top: []byte{0, 1, 2}, Board: []byte{2, 0, 0, 1, 0, 0}}
	for cell, at := range map[botarena.Cell][2]int{
		botarena.Own: {0, 0}, botarena.Opponent: {1, 0}, botarena.Empty: {1, 2},
	} {
		if got := ask.Cell(at[0], at[1]); got != cell {
			t.Errorf("%d at %v: expected %d", got, at, cell)
		}
	}
	for _, at := range [][2]int{{-1, 0}, {0, -1}, {2, 0}, {0, 3}, {1, -1}} {
		if got := ask.Cell(at[0], at[1]); got != botarena.OffBoard {
			t.Errorf("%d at %v", got, at)
		}
	}
	for _, column := range []int{-1, 0, 3} {
		if point, ok := ask.Landing(column); ok {
			t.Errorf("%v in column %d", point, column)
		}
	}
}

type (
	mahjongCall   = mahjongv1.MahjongCall
	mahjongAnswer = mahjongv1.MahjongAnswer
)

func requestDiscard(n uint32) *mahjongCall {
	return &mahjongCall{Number: number(n), Call: &mahjongv1.MahjongCall_RequestDiscard{}}
}

func requestWin(n uint32, own bool) *mahjongCall {
	ask := &mahjongv1.RequestWin{WinningTile: mahjongv1.Tile_TILE_C1, IsSelfDraw: own}
	return &mahjongCall{
		Number: number(n), Call: &mahjongv1.MahjongCall_RequestWin{RequestWin: ask},
	}
}

func TestMahjongByItsCallbacks(t *testing.T) {
	object := &hears{tile: botarena.TileD9}
	conn, _ := serve(t, playingAll(object))
	s := open(t, mahjongv1.NewMahjongBotClient(conn).Play)
	s.ask(&mahjongCall{
		Number: number(0),
		Call:   &mahjongv1.MahjongCall_Start{Start: &arenav1.GameStart{}},
		Round:  &mahjongv1.Round{MissingSuitRequired: true, Wall: 82},
	})
	// A tile of a newer referee is passed on as it is.
	s.send(&mahjongCall{Call: &mahjongv1.MahjongCall_GetDraw{
		GetDraw: &mahjongv1.GetDraw{Tiles: []mahjongv1.Tile{1, 17, 99}},
	}})
	past := requestDiscard(1)
	past.PastAnswer = &mahjongAnswer{
		Answer: &mahjongv1.MahjongAnswer_Discard{Discard: mahjongv1.Tile_TILE_B7},
	}
	s.send(past)
	s.send(&mahjongCall{Call: &mahjongv1.MahjongCall_GetOppDiscard{
		GetOppDiscard: &mahjongv1.GetOppDiscard{Tile: mahjongv1.Tile_TILE_D1},
	}})
	past = requestWin(2, true)
	past.PastAnswer = &mahjongAnswer{
		Answer: &mahjongv1.MahjongAnswer_Win{Win: mahjongv1.Claim_CLAIM_PASS},
	}
	s.send(past)
	for n, claim := range []mahjongv1.Claim{mahjongv1.Claim_CLAIM_PASS, mahjongv1.Claim_CLAIM_WIN} {
		if got := s.ask(requestWin(uint32(3+n), n == 1)); got.GetWin() != claim {
			t.Errorf("%v", got)
		}
	}
	if got := s.ask(requestDiscard(5)); got.GetDiscard() != mahjongv1.Tile_TILE_D9 {
		t.Errorf("%v", got)
	}
	s.close()
	expectTold(t, object, "round {MissingSuitRequired:true Wall:82}",
		"draw 1c", "draw 7b", "draw Tile(99)", "resumed 7b", "opponent 1d",
		"resumed 1c true false", "win 1c false", "win 1c true", "discard")
}

type bigTwoCall = bigtwov1.BigTwoCall

func requestPlay(n uint32, toBeat ...bigtwov1.Card) *bigTwoCall {
	ask := &bigtwov1.RequestPlay{MustIncludeThreeOfClubs: toBeat == nil, Reversed: toBeat != nil}
	if toBeat != nil {
		ask.ToBeat = &bigtwov1.Play{Cards: toBeat}
	}
	return &bigTwoCall{
		Number: number(n), Call: &bigtwov1.BigTwoCall_RequestPlay{RequestPlay: ask},
	}
}

func TestBigTwoByItsCallbacks(t *testing.T) {
	object := &hears{cards: []botarena.Card{botarena.CardC3}}
	conn, _ := serve(t, playingAll(object))
	s := open(t, bigtwov1.NewBigTwoBotClient(conn).Play)
	cards := []bigtwov1.Card{
		bigtwov1.Card_CARD_THREE_OF_CLUBS, bigtwov1.Card_CARD_TEN_OF_HEARTS,
		bigtwov1.Card_CARD_TWO_OF_SPADES, bigtwov1.Card_CARD_JOKER_1,
	}
	s.ask(&bigTwoCall{
		Number:  number(0),
		Call:    &bigtwov1.BigTwoCall_Start{Start: &arenav1.GameStart{}},
		Table:   &bigtwov1.Table{Scoring: 9, Reversal: true, CardsLeft: []uint32{14, 14, 13, 13}},
		GetDeal: &bigtwov1.GetDeal{Cards: cards},
	})
	played, passed := requestPlay(1), requestPlay(2, bigtwov1.Card_CARD_JOKER_2)
	played.PastAnswer = &bigtwov1.BigTwoAnswer{
		Answer: &bigtwov1.BigTwoAnswer_Play{Play: &bigtwov1.Play{Cards: cards[:1]}},
	}
	passed.PastAnswer = &bigtwov1.BigTwoAnswer{
		Answer: &bigtwov1.BigTwoAnswer_Pass{Pass: &bigtwov1.Pass{}},
	}
	s.send(played)
	s.send(passed)
	place := uint32(1)
	s.send(&bigTwoCall{Call: &bigtwov1.BigTwoCall_GetPlay{GetPlay: &bigtwov1.GetPlay{
		Seat: 3, Move: &bigtwov1.GetPlay_Play{Play: &bigtwov1.Play{Cards: cards[3:]}},
		ReversedAfter: true, Place: &place,
	}}})
	s.send(&bigTwoCall{Call: &bigtwov1.BigTwoCall_GetPlay{GetPlay: &bigtwov1.GetPlay{
		Seat: 2, Move: &bigtwov1.GetPlay_Pass{Pass: &bigtwov1.Pass{}}, CardsLeft: 5,
	}}})
	s.send(&bigTwoCall{Call: &bigtwov1.BigTwoCall_Forfeit{
		Forfeit: &arenav1.Forfeit{Seat: 2, Place: 4},
	}})
	if got := s.ask(requestPlay(3)); !slices.Equal(got.GetPlay().GetCards(), cards[:1]) {
		t.Errorf("%v", got)
	}
	object.cards = []botarena.Card{}
	if got := s.ask(requestPlay(4, cards[3])); got.GetPass() == nil || got.GetNumber() != 4 {
		t.Errorf("%v", got)
	}
	s.close()
	lead := "{ToBeat:[] Reversed:false MustIncludeThreeOfClubs:true}"
	follow := "{ToBeat:[JK%d] Reversed:true MustIncludeThreeOfClubs:false}"
	expectTold(t, object,
		"table {Scoring:Scoring(9) Reversal:true CardsLeft:[14 14 13 13]}",
		"deal [3C 10H 2S JK1]", "resumed "+lead+" [3C]", "resumed "+fmt.Sprintf(follow, 2)+" []",
		"play {Seat:3 Cards:[JK1] CardsLeft:0 ReversedAfter:true Place:1}",
		"play {Seat:2 Cards:[] CardsLeft:5 ReversedAfter:false Place:0}",
		"forfeit 2 4", "ask "+lead, "ask "+fmt.Sprintf(follow, 1))
}

type othelloCall = othellov1.OthelloCall

func requestMove(n uint32, previous *othellov1.Previous) *othelloCall {
	ask := &othellov1.RequestMove{Board: make([]byte, 64), Previous: previous}
	return &othelloCall{
		Number: number(n), Limit: durationpb.New(time.Second),
		Call: &othellov1.OthelloCall_RequestMove{RequestMove: ask},
	}
}

func TestOthelloByItsCallbacks(t *testing.T) {
	object := &hears{square: botarena.Square{Row: 2, Column: 0}}
	conn, _ := serve(t, playingAll(object))
	s := open(t, othellov1.NewOthelloBotClient(conn).Play)
	s.ask(&othelloCall{
		Number: number(0),
		Call:   &othellov1.OthelloCall_Start{Start: &arenav1.GameStart{}},
		Beginning: &othellov1.Beginning{
			Board: make([]byte, 64), SideToMove: othellov1.Side_SIDE_WHITE,
		},
	})
	row, column := uint32(0), uint32(7)
	h1 := &othellov1.Square{Row: &row, Column: &column}
	past := requestMove(1, &othellov1.Previous{Previous: &othellov1.Previous_Square{Square: h1}})
	past.PastAnswer = &othellov1.OthelloAnswer{
		Answer: &othellov1.OthelloAnswer_Square{Square: h1},
	}
	s.send(past)
	pass := &othellov1.Previous_Pass{Pass: &othellov1.Pass{}}
	got := s.ask(requestMove(2, &othellov1.Previous{Previous: pass})).GetSquare()
	if got.GetRow() != 2 || got.Column == nil || *got.Column != 0 {
		t.Errorf("%v", got)
	}
	short := requestMove(3, nil)
	short.GetRequestMove().Board = []byte{1}
	s.send(short)
	s.refused(codes.InvalidArgument)
	expectTold(t, object, "beginning 64 1 {<nil> false}", "resumed h1 false h1", "move 64 <nil> true")
}

func TestAnInvalidValueIsToldWhatWasExpected(t *testing.T) {
	const first = "games_test.go:"
	refused := func(t *testing.T, words, expected string) {
		t.Helper()
		if !strings.HasPrefix(words, first) || !strings.HasSuffix(words, ": "+expected) {
			t.Errorf("%q: expected the place and %q", words, expected)
		}
	}
	object := &hears{point: botarena.Point{X: 1 << 40}}
	conn, _ := serve(t, playingAll(object))
	s := started(t, conn)
	s.send(pointCall(1))
	refused(t, s.refused(codes.Internal),
		"GetPoint returned (1099511627776, 0): expected a Point on the board")

	for _, tile := range []botarena.Tile{0, -1, 10, 30, 1000} {
		object.tile = tile
		s := open(t, mahjongv1.NewMahjongBotClient(conn).Play)
		s.ask(&mahjongCall{
			Number: number(0), Call: &mahjongv1.MahjongCall_Start{Start: &arenav1.GameStart{}},
		})
		s.send(requestDiscard(1))
		refused(t, s.refused(codes.Internal), fmt.Sprintf(
			"RequestDiscard returned Tile(%d): expected a Tile of the hand", tile))
	}
	for shown, cards := range map[string][]botarena.Card{
		"[Card(0)]":   {0},
		"[Card(55)]":  {55},
		"[3C JK2 3C]": {botarena.CardC3, botarena.CardJoker2, botarena.CardC3},
	} {
		object.cards = cards
		s := open(t, bigtwov1.NewBigTwoBotClient(conn).Play)
		s.ask(&bigTwoCall{
			Number: number(0), Call: &bigtwov1.BigTwoCall_Start{Start: &arenav1.GameStart{}},
		})
		s.send(requestPlay(1))
		refused(t, s.refused(codes.Internal),
			"RequestPlay returned "+shown+": expected Cards, each once, or none to pass")
	}
	for _, square := range []botarena.Square{{Row: 8}, {Column: 8}, {Row: -1}, {Column: -1}} {
		object.square = square
		s := open(t, othellov1.NewOthelloBotClient(conn).Play)
		s.ask(&othelloCall{
			Number: number(0), Call: &othellov1.OthelloCall_Start{Start: &arenav1.GameStart{}},
		})
		s.send(requestMove(1, nil))
		refused(t, s.refused(codes.Internal), fmt.Sprintf("RequestMove returned Square{%d, %d}: "+
			"expected a Square with a Row and a Column of 0 to 7", square.Row, square.Column))
	}
}

func TestTilesAndCardsAreThoseOfTheProtocol(t *testing.T) {
	for value, name := range mahjongv1.Tile_name {
		tile := botarena.Tile(value)
		// TILE_C1 is 1c.
		text := strings.ToLower(name[len("TILE_")+1:] + name[len("TILE_"):len("TILE_")+1])
		if tile.Valid() != (value != 0) || value != 0 && tile.String() != text {
			t.Errorf("%s is %v", name, tile)
		}
	}
	ranks := []string{
		"THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "TEN", "JACK", "QUEEN", "KING",
		"ACE", "TWO",
	}
	suits := []string{"CLUBS", "DIAMONDS", "HEARTS", "SPADES"}
	for value, name := range bigtwov1.Card_name {
		card := botarena.Card(value)
		if card.Valid() != (value != 0) {
			t.Errorf("%s: %v", name, card.Valid())
		}
		if value == 0 {
			continue
		}
		text := "CARD_JOKER_" + strings.TrimPrefix(card.String(), "JK")
		if !card.IsJoker() {
			text = "CARD_" + ranks[card.Rank()] + "_OF_" + suits[card.Suit()]
		}
		if text != name {
			t.Errorf("%s is %s", name, text)
		}
	}
	if botarena.CardH10.String() != "10H" || botarena.CardS2 != 52 || botarena.CardJoker2 != 54 {
		t.Error("the cards have other numbers")
	}
}
