package botarena

import (
	"context"
	"fmt"
	"slices"

	arenav1 "botarena/proto/arena/v1"
	bigtwov1 "botarena/proto/games/big_two/v1"
)

// A BigTwoBot is a bot in one game of Reversal Big Two. It may also be a [TableHandler], a
// [ForfeitHandler], a [ResumedPlayHandler] and a [GameOverHandler].
type BigTwoBot interface {
	// GetDeal tells your cards.
	GetDeal(ctx context.Context, cards []Card) error
	// GetPlay tells that a seat has played or passed; you are told of your own plays too.
	GetPlay(ctx context.Context, play GetPlay) error
	// RequestPlay asks which cards you play. No cards are a pass, which is not allowed where you
	// lead.
	RequestPlay(ctx context.Context, ask RequestPlay) ([]Card, error)
}

// A TableHandler is told what everybody knows before the first play.
type TableHandler interface {
	GetTable(ctx context.Context, table Table) error
}

// A ForfeitHandler is told that a seat has left by a foul and taken this place.
type ForfeitHandler interface {
	GetForfeit(ctx context.Context, seat, place int) error
}

// A ResumedPlayHandler is told of the questions that were asked and answered before, where the
// stream was opened in the middle of a game. No cards are a pass.
type ResumedPlayHandler interface {
	ResumedPlay(ctx context.Context, ask RequestPlay, cards []Card) error
}

// A Scoring is how a round counts.
type Scoring int32

// How a round counts.
const (
	ScoringPlaces = Scoring(bigtwov1.Scoring_SCORING_PLACES)
	ScoringPayout = Scoring(bigtwov1.Scoring_SCORING_PAYOUT)
)

// String returns the name, for example "PLACES".
func (s Scoring) String() string {
	return enumName(bigtwov1.Scoring_name, int32(s), "SCORING_", "Scoring")
}

// A Table is what everybody knows before the first play.
type Table struct {
	Scoring Scoring
	// Reversal says that a four of a kind reverses the order.
	Reversal bool
	// CardsLeft is how many cards each seat holds, in order of the seats.
	CardsLeft []int
}

// A GetPlay is a play or a pass of a seat.
type GetPlay struct {
	Seat int
	// Cards are what it played; none where it passed.
	Cards []Card
	// CardsLeft is how many it holds now.
	CardsLeft int
	// ReversedAfter says whether the order is reversed now, for the next player.
	ReversedAfter bool
	// Place is its place, from 1, the best, where it has gone out by this; else 0.
	Place int
}

// A RequestPlay is a question: what to beat.
type RequestPlay struct {
	// ToBeat are the cards to beat; none where you lead.
	ToBeat []Card
	// Reversed says whether the order is reversed now.
	Reversed bool
	// MustIncludeThreeOfClubs says that the play must contain ♣3, as the first of a game.
	MustIncludeThreeOfClubs bool
}

// A Card is named by a letter for its suit (clubs, diamonds, hearts, spades) and its rank.
type Card int32

// The cards.
const (
	CardC3 Card = iota + 1
	CardD3
	CardH3
	CardS3
	CardC4
	CardD4
	CardH4
	CardS4
	CardC5
	CardD5
	CardH5
	CardS5
	CardC6
	CardD6
	CardH6
	CardS6
	CardC7
	CardD7
	CardH7
	CardS7
	CardC8
	CardD8
	CardH8
	CardS8
	CardC9
	CardD9
	CardH9
	CardS9
	CardC10
	CardD10
	CardH10
	CardS10
	CardCJ
	CardDJ
	CardHJ
	CardSJ
	CardCQ
	CardDQ
	CardHQ
	CardSQ
	CardCK
	CardDK
	CardHK
	CardSK
	CardCA
	CardDA
	CardHA
	CardSA
	CardC2
	CardD2
	CardH2
	CardS2
	CardJoker1
	CardJoker2
)

var cardRanks = [...]string{"3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2"}

// Valid tells whether there is such a card.
func (c Card) Valid() bool { return c >= CardC3 && c <= CardJoker2 }

// IsJoker tells whether it is one of the two jokers.
func (c Card) IsJoker() bool { return c >= CardJoker1 }

// Rank is in the normal order, from 0 for the threes to 12 for the twos; 13 for a joker.
func (c Card) Rank() int { return (int(c) - 1) / 4 }

// Suit returns 0 for clubs, 1 for diamonds, 2 for hearts, 3 for spades; a joker has none: -1.
func (c Card) Suit() int {
	if c.IsJoker() {
		return -1
	}
	return (int(c) - 1) % 4
}

// String returns the card in the notation of the arena: 3C, 10D, JK1.
func (c Card) String() string {
	switch {
	case !c.Valid():
		return fmt.Sprintf("Card(%d)", int32(c))
	case c.IsJoker():
		return fmt.Sprintf("JK%d", c-CardS2)
	}
	return fmt.Sprintf("%s%c", cardRanks[c.Rank()], "CDHS"[c.Suit()])
}

// bigTwo is one seat in one game.
type bigTwo struct {
	new func(context.Context, GameStart) (BigTwoBot, error)
	bot BigTwoBot
}

type bigTwoServer struct {
	bigtwov1.UnimplementedBigTwoBotServer
	*server
}

func (s bigTwoServer) Play(stream bigtwov1.BigTwoBot_PlayServer) error {
	return play(s.server, &bigTwo{new: s.bot.BigTwo}, stream)
}

func (*bigTwo) envelope(call *bigtwov1.BigTwoCall) envelope {
	return envelope{call.Number, call.Limit, call.PastAnswer != nil, call.GetStart(), call.GetOver()}
}

func (*bigTwo) ready(ready *arenav1.Ready) *bigtwov1.BigTwoAnswer {
	return &bigtwov1.BigTwoAnswer{Answer: &bigtwov1.BigTwoAnswer_Ready{Ready: ready}}
}

func (*bigTwo) number(answer *bigtwov1.BigTwoAnswer, number *uint32) { answer.Number = number }

func (g *bigTwo) create(ctx context.Context, start GameStart) (any, error) {
	bot, err := g.new(ctx, start)
	g.bot = bot
	return bot, err
}

func (*bigTwo) describe() description {
	return description{
		bot: "BigTwoBot",
		optional: []optional{
			optionalOf[TableHandler](),
			optionalOf[ForfeitHandler](),
			optionalOf[ResumedPlayHandler](),
		},
	}
}

func (g *bigTwo) begin(ctx context.Context, call *bigtwov1.BigTwoCall, at *callback) error {
	if bot, ok := g.bot.(TableHandler); ok && call.Table != nil {
		at.name = "GetTable"
		table := Table{Scoring: Scoring(call.Table.Scoring), Reversal: call.Table.Reversal}
		for _, cards := range call.Table.CardsLeft {
			table.CardsLeft = append(table.CardsLeft, int(cards))
		}
		if err := bot.GetTable(ctx, table); err != nil {
			return err
		}
	}
	if call.GetDeal == nil {
		return nil
	}
	at.name = "GetDeal"
	return g.bot.GetDeal(ctx, cardsOf(call.GetDeal.Cards))
}

func (g *bigTwo) hear(
	ctx context.Context, call *bigtwov1.BigTwoCall, at *callback,
) (*bigtwov1.BigTwoAnswer, error) {
	switch it := call.Call.(type) {
	case *bigtwov1.BigTwoCall_GetPlay:
		at.name = "GetPlay"
		return nil, g.bot.GetPlay(ctx, GetPlay{
			Seat:          int(it.GetPlay.GetSeat()),
			Cards:         cardsOf(it.GetPlay.GetPlay().GetCards()),
			CardsLeft:     int(it.GetPlay.GetCardsLeft()),
			ReversedAfter: it.GetPlay.GetReversedAfter(),
			Place:         int(it.GetPlay.GetPlace()),
		})
	case *bigtwov1.BigTwoCall_Forfeit:
		if bot, ok := g.bot.(ForfeitHandler); ok {
			at.name = "GetForfeit"
			return nil, bot.GetForfeit(ctx, int(it.Forfeit.GetSeat()), int(it.Forfeit.GetPlace()))
		}
	case *bigtwov1.BigTwoCall_RequestPlay:
		return g.requestPlay(ctx, call, at)
	}
	return nil, nil
}

func (g *bigTwo) requestPlay(
	ctx context.Context, call *bigtwov1.BigTwoCall, at *callback,
) (*bigtwov1.BigTwoAnswer, error) {
	request := call.GetRequestPlay()
	ask := RequestPlay{
		ToBeat:                  cardsOf(request.GetToBeat().GetCards()),
		Reversed:                request.GetReversed(),
		MustIncludeThreeOfClubs: request.GetMustIncludeThreeOfClubs(),
	}
	if call.PastAnswer != nil {
		if bot, ok := g.bot.(ResumedPlayHandler); ok {
			at.name = "ResumedPlay"
			return nil, bot.ResumedPlay(ctx, ask, cardsOf(call.PastAnswer.GetPlay().GetCards()))
		}
		return nil, nil
	}
	at.name = "RequestPlay"
	cards, err := g.bot.RequestPlay(ctx, ask)
	if err != nil {
		return nil, err
	}
	if len(cards) == 0 {
		pass := &bigtwov1.BigTwoAnswer_Pass{Pass: &bigtwov1.Pass{}}
		return &bigtwov1.BigTwoAnswer{Answer: pass}, nil
	}
	play := &bigtwov1.Play{}
	for at := range cards {
		if !cards[at].Valid() || slices.Contains(cards[:at], cards[at]) {
			play = nil
			break
		}
		play.Cards = append(play.Cards, bigtwov1.Card(cards[at]))
	}
	if play == nil {
		return nil, at.returned(cards, "Cards, each once, or none to pass")
	}
	return &bigtwov1.BigTwoAnswer{Answer: &bigtwov1.BigTwoAnswer_Play{Play: play}}, nil
}

func cardsOf(cards []bigtwov1.Card) []Card {
	var read []Card
	for _, card := range cards {
		read = append(read, Card(card))
	}
	return read
}
