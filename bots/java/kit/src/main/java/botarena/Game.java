package botarena;

import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import java.util.Optional;

/** How a game's messages become callbacks. Messages come as bytes: see {@link Session}. */
sealed interface Game<B extends GameBot>
        permits ConnectFourGame, MahjongGame, BigTwoGame, OthelloGame {
    /** The full name of its service. */
    String service();

    /** The file with its messages. */
    FileDescriptor file();

    /** What the bot of this game implements. */
    Class<B> bot();

    /** What comes with the start of the game. */
    void begin(B bot, byte[] call, Callbacks callbacks)
            throws Fault, InvalidProtocolBufferException;

    /** A call of the game's own. What it answers, if anything, has no number yet. */
    Optional<MessageLite> hear(B bot, byte[] call, Callbacks callbacks)
            throws Fault, InvalidProtocolBufferException;

    static java.time.Duration limit(Duration limit) {
        return java.time.Duration.ofSeconds(limit.getSeconds(), limit.getNanos());
    }
}
