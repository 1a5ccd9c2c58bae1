package botarena_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"botarena"
	othellov1 "botarena/proto/games/othello/v1"
)

func check(conn *grpc.ClientConn, service string) (healthv1.HealthCheckResponse_ServingStatus, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request := &healthv1.HealthCheckRequest{Service: service}
	answer, err := healthv1.NewHealthClient(conn).Check(ctx, request)
	return answer.GetStatus(), err
}

func TestABotIsHealthyAndSoIsEachOfItsGames(t *testing.T) {
	conn, _ := serve(t, playing(leftmost))
	for _, service := range []string{"", "games.connect_four.v1.ConnectFourBot"} {
		if got, err := check(conn, service); got != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("%s: %v, %v", service, got, err)
		}
	}
	if _, err := check(conn, "games.othello.v1.OthelloBot"); status.Code(err) != codes.NotFound {
		t.Errorf("%v", err)
	}
}

func TestAGameThatIsNotServedIsUnimplemented(t *testing.T) {
	conn, _ := serve(t, playing(leftmost))
	open(t, othellov1.NewOthelloBotClient(conn).Play).refused(codes.Unimplemented)
}

func TestABotDescribesItself(t *testing.T) {
	conn, _ := serve(t, playing(leftmost))
	s := open(t, reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo)
	listed := s.ask(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{},
	})
	var names []string
	for _, service := range listed.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	for name, served := range map[string]bool{
		"games.connect_four.v1.ConnectFourBot":           true,
		"games.othello.v1.OthelloBot":                    false,
		"grpc.health.v1.Health":                          true,
		"grpc.reflection.v1.ServerReflection":            true,
		"grpc.reflection.v1alpha.ServerReflection":       true,
		"games.connect_four.v1.ConnectFourBot.NoService": false,
	} {
		if slices.Contains(names, name) != served {
			t.Errorf("%s: expected %v", name, served)
		}
	}
	described := s.ask(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: "games.connect_four.v1.ConnectFourBot",
		},
	})
	if len(described.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Errorf("%v", described)
	}
}

func TestABotWhosePlacesAreAllTakenIsHealthy(t *testing.T) {
	entered, release := make(chan bool), make(chan bool)
	conn, _ := serve(t, playing(getPoint(
		func(_ context.Context, ask botarena.GetPoint) (botarena.Point, error) {
			entered <- true
			<-release
			return ask.Points()[0], nil
		})))
	s := started(t, conn)
	s.send(pointCall(1))
	await(t, entered)
	for range 50 {
		connectFour(t, conn).send(startCall("g2"))
	}
	for range 20 {
		if got, err := check(conn, ""); got != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("%v, %v", got, err)
		}
	}
	close(release)
	if s.answer().GetNumber() != 1 {
		t.Error("no answer")
	}
}
