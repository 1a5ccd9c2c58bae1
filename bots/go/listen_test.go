package botarena

import "testing"

func TestAWrongAddressIsToldWhatWasExpected(t *testing.T) {
	for _, address := range []string{
		"", "unix:", "unix", "unix://", "127.0.0.1:50051", "tcp:127.0.0.1", "tcp::50051", "tcp:h:",
		"tcp:h:x", "tcp:h:65536", "tcp:::1:50051", "udp:h:1", " tcp:h:1", "tcp:h:1\n", "grpc://h:1",
	} {
		_, _, err := listen(address)
		wrong, ok := err.(*ListenError)
		if !ok || wrong.Address != address || wrong.Err != errAddress {
			t.Errorf("%q: %v", address, err)
		}
	}
	listener, shown, err := listen("tcp:[::1]:0")
	if err == nil {
		listener.Close()
		if shown == "tcp:[::1]:0" {
			t.Error("the port was not chosen")
		}
	}
}
