package botarena

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// placeWait is how long a new game waits for one to end: a referee that plays one game after
// another may open the next before the last one has ended here.
const placeWait = time.Second

// runningGames counts the games that run at the same time.
type runningGames struct {
	// places has one entry for each stream that is served.
	places chan struct{}
	// stopping is closed when no new game is taken any more, idle when none runs after that.
	stopping chan struct{}
	idle     chan struct{}

	mutex   sync.Mutex
	running int
	stopped bool
}

func newRunningGames(most int) *runningGames {
	return &runningGames{
		places:   make(chan struct{}, most),
		stopping: make(chan struct{}),
		idle:     make(chan struct{}),
	}
}

// enter waits for a place. Where it returns no error, leave must be called when the stream has
// ended, and ended when the author's code has.
func (g *runningGames) enter(ctx context.Context) error {
	wait := time.NewTimer(placeWait)
	defer wait.Stop()
	select {
	case g.places <- struct{}{}:
	case <-g.stopping:
		return faultf(codes.Unavailable, "the bot is stopping")
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	case <-wait.C:
		return faultf(codes.ResourceExhausted,
			"max_games is %d, and as many games are running", cap(g.places))
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.stopped {
		<-g.places
		return faultf(codes.Unavailable, "the bot is stopping")
	}
	g.running++
	return nil
}

// leave gives the place of a stream to the next.
func (g *runningGames) leave() { <-g.places }

// ended says that the author's code of a game runs no more.
func (g *runningGames) ended() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.running--
	if g.stopped && g.running == 0 {
		close(g.idle)
	}
}

// stop takes no new game from here on.
func (g *runningGames) stop() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.stopped = true
	close(g.stopping)
	if g.running == 0 {
		close(g.idle)
	}
}
