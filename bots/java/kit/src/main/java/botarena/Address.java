package botarena;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a bot listens. */
sealed interface Address {
    /** A Unix socket. */
    record Unix(String path) implements Address {
        private static final int TYPE = 0170000;
        private static final int SOCKET = 0140000;

        @Override
        public SocketAddress socket() {
            return UnixDomainSocketAddress.of(path);
        }

        @Override
        public String listening(SocketAddress bound) {
            return "unix:" + path;
        }

        @Override
        public void removeSocket() throws IOException {
            try {
                Path file = Path.of(path);
                Object mode = Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
                if (((int) mode & TYPE) == SOCKET) {
                    Files.deleteIfExists(file);
                }
            } catch (NoSuchFileException none) {
                // Nothing is in the way.
            }
        }
    }

    /** A port; with 0 the system chooses one. */
    record Tcp(String host, int port) implements Address {
        @Override
        public SocketAddress socket() {
            return new InetSocketAddress(host, port);
        }

        @Override
        public String listening(SocketAddress bound) {
            return "tcp:" + host + ":" + ((InetSocketAddress) bound).getPort();
        }

        @Override
        public void removeSocket() {}
    }

    Pattern UNIX = Pattern.compile("unix:(?://)?(.+)", Pattern.DOTALL);
    Pattern TCP = Pattern.compile("tcp:(\\[[^\\[\\]]+\\]|[^:\\[\\]]+):([0-9]{1,5})");
    int MOST_PORTS = 1 << 16;

    /** As Java has it. */
    SocketAddress socket();

    /** What is printed when the bot listens. */
    String listening(SocketAddress bound);

    /** Removes a socket that a dead process left behind; nothing else. */
    void removeSocket() throws IOException;

    /** Reads {@code unix:PATH} or {@code tcp:HOST:PORT}. */
    static Address parse(String text) throws ListenException {
        Matcher unix = UNIX.matcher(text);
        if (unix.matches()) {
            return new Unix(unix.group(1));
        }
        Matcher tcp = TCP.matcher(text);
        if (tcp.matches() && Integer.parseInt(tcp.group(2)) < MOST_PORTS) {
            return new Tcp(tcp.group(1), Integer.parseInt(tcp.group(2)));
        }
        throw new ListenException(
                "BOT_LISTEN is \"" + text + "\": expected unix:PATH or tcp:HOST:PORT");
    }
}
