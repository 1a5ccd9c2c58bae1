// Package botarena is the kit for bots of Bot Arena in Go: fill in the callbacks of a game, and it
// does the rest: the server, where to listen, health, reflection, one object of yours for each
// game, errors, an orderly stop.
//
//	type leftmost struct{}
//
//	func (leftmost) GetPoint(ctx context.Context, ask botarena.GetPoint) (botarena.Point, error) {
//		return ask.Points()[0], nil
//	}
//
//	func main() {
//		botarena.Bot{
//			Name:    "leftmost",
//			Version: "1.0",
//			ConnectFour: func(context.Context, botarena.GameStart) (botarena.ConnectFourBot, error) {
//				return leftmost{}, nil
//			},
//		}.Main()
//	}
//
// # Callbacks
//
// Each game has an interface with the callbacks that a bot must have: [ConnectFourBot],
// [MahjongBot], [BigTwoBot], [OthelloBot]. Others are called where the object has them; each is an
// interface of one method: [GameOverHandler] and those named in the documentation of the game. If
// the object is an [io.Closer], it is closed when its stream ends, also where the game was cut off.
//
// The callbacks of one game are called one after another, all on the same goroutine.
//
// # Time
//
// The ctx of a question has its limit as deadline, counted from when the question arrived; an
// answer at the deadline is too late. [WithReserve] makes an earlier deadline. The ctx is cancelled
// when the game is cut off. The ctx of a notice, which nobody waits for, has no deadline.
//
// # Errors
//
// An error or panic of a callback ends its own game and no other. The referee is told the place in
// the author's code, the callback and the error:
//
//	bot.go:31: error in RequestDiscard: no such tile
//
// The place of a panic is the line that panicked. A returned error has none; [Errorf] makes one
// that has, and the place of any other is the callback's first line. Panics in goroutines that a
// bot starts itself can't be recovered from: they end the process.
package botarena

//go:generate go run ./internal/generate ../../proto proto
