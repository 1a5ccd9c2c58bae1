package botarena

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"unicode/utf8"
)

// standardAddress is where a bot listens when BOT_LISTEN is not set.
const standardAddress = "tcp:127.0.0.1:50051"

// A Bot is what a program says of itself, with the games that it plays: for each of them a function
// that makes the object for one game. A game whose function is nil is not played.
type Bot struct {
	// Name and Version are shown to people.
	Name, Version string
	// MaxGames is how many games one process plays at once; 0 means 1. A further game waits for a
	// second and is then refused.
	MaxGames int
	// CanResume says that the bot can be resumed mid-game: it has the callbacks Resumed…, or
	// remembers nothing between the others.
	CanResume bool

	ConnectFour func(ctx context.Context, start GameStart) (ConnectFourBot, error)
	Mahjong     func(ctx context.Context, start GameStart) (MahjongBot, error)
	BigTwo      func(ctx context.Context, start GameStart) (BigTwoBot, error)
	Othello     func(ctx context.Context, start GameStart) (OthelloBot, error)

	// Logger is told of the errors and panics of callbacks; nil means slog.Default(), which writes to
	// standard error.
	Logger *slog.Logger
}

// A ConfigError says what is wrong with a [Bot].
type ConfigError struct {
	// Field is the field of Bot that is wrong, and Problem what is wrong with it.
	Field, Problem string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("botarena.Bot: %s %s", e.Field, e.Problem)
}

// Main serves until SIGTERM or SIGINT. It listens at the address in the environment variable
// BOT_LISTEN, unix:PATH or tcp:HOST:PORT, and prints it on standard output. Where BOT_JOIN names an
// arena (https://HOST:PORT) it joins that instead, with the token in the file BOT_TOKEN_FILE; BOT_CA
// may name a file with the certificate authority. It returns when the bot was asked to stop and has.
// Where it can't serve, it says why on standard error and ends the process with exit code 1.
//
// It also sets how many threads run Go code at once (GOMAXPROCS) by the cgroup that the process is
// in, and Go's memory limit (GOMEMLIMIT) by BOT_MEMORY_LIMIT. The environment variables GOMAXPROCS
// and GOMEMLIMIT go before.
func (b Bot) Main() {
	setLimits()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signalled, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(signalled, func() {
		// A second signal ends the process at once.
		stop()
		cancel()
	})
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run joins or serves, as the environment says.
func (b Bot) run(ctx context.Context) error {
	if arena, ok := os.LookupEnv("BOT_JOIN"); ok {
		return b.join(ctx, arena, func(place string) { fmt.Println("attending at " + place) })
	}
	address, ok := os.LookupEnv("BOT_LISTEN")
	if !ok {
		address = standardAddress
	}
	return b.Serve(ctx, address, func(address string) { fmt.Println("listening on " + address) })
}

// Serve serves at an address, unix:PATH or tcp:HOST:PORT, until ctx is done. Then it takes no new
// game, gives those that run 5 seconds, and returns nil. Port 0 means that the system chooses a free
// one. The function listening, unless it is nil, is called with the address once it is open.
//
// It returns a [*ConfigError] or a [*ListenError] where it can't serve.
func (b Bot) Serve(ctx context.Context, address string, listening func(address string)) error {
	if err := b.check(); err != nil {
		return err
	}
	listener, shown, err := listen(address)
	if err != nil {
		return err
	}
	if listening != nil {
		listening(shown)
	}
	return newServer(b).serve(ctx, listener)
}

func (b Bot) check() error {
	switch {
	case !utf8.ValidString(b.Name):
		return &ConfigError{"Name", "is not UTF-8"}
	case !utf8.ValidString(b.Version):
		return &ConfigError{"Version", "is not UTF-8"}
	case b.MaxGames < 0 || int64(b.MaxGames) > 1<<31:
		return &ConfigError{"MaxGames", fmt.Sprintf("is %d: expected 1 or more", b.MaxGames)}
	case b.ConnectFour == nil && b.Mahjong == nil && b.BigTwo == nil && b.Othello == nil:
		return &ConfigError{"ConnectFour, Mahjong, BigTwo and Othello", "are nil: expected a game"}
	}
	return nil
}
