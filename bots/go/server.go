package botarena

import (
	"context"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	arenav1 "botarena/proto/arena/v1"
	bigtwov1 "botarena/proto/games/big_two/v1"
	connectfourv1 "botarena/proto/games/connect_four/v1"
	mahjongv1 "botarena/proto/games/mahjong/v1"
	othellov1 "botarena/proto/games/othello/v1"
)

const (
	// grace is how long games may go on after the bot was asked to stop.
	grace = 5 * time.Second
	// closing is how long peers have then to close their connections.
	closing = 200 * time.Millisecond
)

// server is what the streams of a bot share.
type server struct {
	bot    Bot
	ready  *arenav1.Ready
	logger *slog.Logger
	games  *runningGames
}

func newServer(bot Bot) *server {
	most := uint32(max(1, bot.MaxGames))
	logger := bot.Logger
	if logger == nil {
		logger = slog.Default()
	}
	return &server{
		bot: bot,
		ready: &arenav1.Ready{
			Bot: bot.Name, Version: bot.Version, MaxGames: &most, CanResume: bot.CanResume,
		},
		logger: logger,
		games:  newRunningGames(int(most)),
	}
}

// registerGames adds the services of the bot's games.
func (s *server) registerGames(to grpc.ServiceRegistrar) {
	if s.bot.ConnectFour != nil {
		connectfourv1.RegisterConnectFourBotServer(to, connectFourServer{server: s})
	}
	if s.bot.Mahjong != nil {
		mahjongv1.RegisterMahjongBotServer(to, mahjongServer{server: s})
	}
	if s.bot.BigTwo != nil {
		bigtwov1.RegisterBigTwoBotServer(to, bigTwoServer{server: s})
	}
	if s.bot.Othello != nil {
		othellov1.RegisterOthelloBotServer(to, othelloServer{server: s})
	}
}

// register adds the services of the bot's games, health and reflection.
func (s *server) register(to *grpc.Server) *health.Server {
	s.registerGames(to)
	healthy := health.NewServer()
	for name := range to.GetServiceInfo() {
		healthy.SetServingStatus(name, healthv1.HealthCheckResponse_SERVING)
	}
	healthv1.RegisterHealthServer(to, healthy)
	reflection.Register(to)
	return healthy
}

// creates is the author's function that makes the objects of this game.
func (s *server) creates(game any) any {
	switch game.(type) {
	case *connectFour:
		return s.bot.ConnectFour
	case *mahjong:
		return s.bot.Mahjong
	case *bigTwo:
		return s.bot.BigTwo
	default:
		return s.bot.Othello
	}
}

// serve serves until ctx is done, and then stops: it takes no new game, gives those that run their
// time, and closes the listener.
func (s *server) serve(ctx context.Context, listener net.Listener) error {
	rpc := grpc.NewServer(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
		// The referee may ask as often as it likes whether the connection is alive. By default it
		// would be hung up on.
		MinTime:             1,
		PermitWithoutStream: true,
	}))
	healthy := s.register(rpc)
	served := make(chan error, 1)
	// A bot that is asked to stop before it has begun to serve removes its socket too.
	defer listener.Close()
	go func() { served <- rpc.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.games.stop()
	healthy.Shutdown()
	closed := make(chan struct{})
	go func() {
		rpc.GracefulStop()
		close(closed)
	}()
	select {
	case <-s.games.idle:
	case <-time.After(grace):
	}
	// Whoever watches our health must not keep us running.
	select {
	case <-closed:
	case <-time.After(closing):
	}
	rpc.Stop()
	return nil
}
