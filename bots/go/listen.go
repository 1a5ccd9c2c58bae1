package botarena

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// A ListenError says why a bot can't listen where it should.
type ListenError struct {
	Address string
	Err     error
}

func (e *ListenError) Error() string {
	if errors.Is(e.Err, errAddress) {
		return fmt.Sprintf("BOT_LISTEN is %q: %s", e.Address, e.Err)
	}
	return fmt.Sprintf("could not listen on %s: %s", e.Address, e.Err)
}

// Unwrap returns the reason.
func (e *ListenError) Unwrap() error { return e.Err }

var errAddress = errors.New("expected unix:PATH or tcp:HOST:PORT")

var tcpAddress = regexp.MustCompile(`^(\[[^\[\]]+\]|[^:\[\]]+):([0-9]{1,5})$`)

// listen opens an address. It returns the address with the port that was chosen, too.
func listen(address string) (net.Listener, string, error) {
	network, rest, _ := strings.Cut(address, ":")
	if path := strings.TrimPrefix(rest, "//"); network == "unix" && path != "" {
		listener, err := listenUnix(path)
		if err != nil {
			return nil, "", &ListenError{address, reason(err)}
		}
		return listener, "unix:" + path, nil
	}
	found := tcpAddress.FindStringSubmatch(rest)
	if network != "tcp" || found == nil {
		return nil, "", &ListenError{address, errAddress}
	}
	if port, err := strconv.ParseUint(found[2], 10, 16); err != nil || port > 65535 {
		return nil, "", &ListenError{address, errAddress}
	}
	listener, err := net.Listen("tcp", rest)
	if err != nil {
		return nil, "", &ListenError{address, reason(err)}
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return listener, fmt.Sprintf("tcp:%s:%d", found[1], port), nil
}

// listenUnix listens on a socket, which is removed when the listener is closed. A socket that a dead
// process left behind is in the way; nothing else is removed.
func listenUnix(path string) (net.Listener, error) {
	name := path
	if strings.HasPrefix(name, "@") {
		// Go would take it for a name that is no file.
		name = "./" + name
	}
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSocket != 0 {
		probe, err := net.Dial("unix", name)
		if err == nil {
			probe.Close()
			return nil, syscall.EADDRINUSE
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			if err := os.Remove(name); err != nil {
				return nil, err
			}
		}
	}
	return net.Listen("unix", name)
}

// reason is the system's own word where there is one, without the address.
func reason(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}
