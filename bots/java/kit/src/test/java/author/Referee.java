package author;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.Envelope.GameStart;
import botarena.Bot;
import botarena.ListenException;
import botarena.Serving;
import com.google.protobuf.Message;
import games.big_two.v1.BigTwo.BigTwoAnswer;
import games.big_two.v1.BigTwo.BigTwoCall;
import games.connect_four.v1.ConnectFour.ConnectFourAnswer;
import games.connect_four.v1.ConnectFour.ConnectFourCall;
import games.mahjong.v1.Mahjong.MahjongAnswer;
import games.mahjong.v1.Mahjong.MahjongCall;
import games.othello.v1.Othello.OthelloAnswer;
import games.othello.v1.Othello.OthelloCall;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.protobuf.ProtoUtils;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The referee's side: a channel to a bot, and the streams on it. */
final class Referee implements AutoCloseable {
    /** Longer than anything here takes, however busy the machine is. */
    static final long LONG = 30;

    private static final EventLoopGroup LOOP =
            new MultiThreadIoEventLoopGroup(
                    1, new DefaultThreadFactory("referee", true), NioIoHandler.newFactory());

    final ManagedChannel channel;
    private final Serving serving;

    private Referee(String address, Serving serving) {
        this.serving = serving;
        boolean isUnix = address.startsWith("unix:");
        String tcp = address.substring(address.indexOf(':') + 1);
        NettyChannelBuilder builder =
                isUnix
                        ? NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(tcp))
                                .channelType(
                                        NioDomainSocketChannel.class, UnixDomainSocketAddress.class)
                        : NettyChannelBuilder.forAddress(
                                        new InetSocketAddress(
                                                tcp.substring(0, tcp.lastIndexOf(':')),
                                                Integer.parseInt(
                                                        tcp.substring(tcp.lastIndexOf(':') + 1))))
                                .channelType(NioSocketChannel.class);
        channel = builder.eventLoopGroup(LOOP).usePlaintext().build();
    }

    /** Of a bot in this process. */
    static Referee of(Bot bot) throws IOException, ListenException {
        Path folder = Files.createTempDirectory("kit");
        String address = "unix:" + folder.resolve("bot");
        return new Referee(address, bot.serve(address));
    }

    /** Of a bot that listens there. */
    static Referee dial(String address) {
        return new Referee(address, null);
    }

    @Override
    public void close() {
        // What is still open does not keep the bot.
        channel.shutdownNow();
        if (serving != null) {
            serving.close();
        }
    }

    Stream<ConnectFourCall, ConnectFourAnswer> connectFour() {
        return stream(
                "games.connect_four.v1.ConnectFourBot",
                ConnectFourCall.getDefaultInstance(),
                ConnectFourAnswer.getDefaultInstance());
    }

    Stream<MahjongCall, MahjongAnswer> mahjong() {
        return stream(
                "games.mahjong.v1.MahjongBot",
                MahjongCall.getDefaultInstance(),
                MahjongAnswer.getDefaultInstance());
    }

    Stream<BigTwoCall, BigTwoAnswer> bigTwo() {
        return stream(
                "games.big_two.v1.BigTwoBot",
                BigTwoCall.getDefaultInstance(),
                BigTwoAnswer.getDefaultInstance());
    }

    Stream<OthelloCall, OthelloAnswer> othello() {
        return stream(
                "games.othello.v1.OthelloBot",
                OthelloCall.getDefaultInstance(),
                OthelloAnswer.getDefaultInstance());
    }

    private <C extends Message, A extends Message> Stream<C, A> stream(
            String service, C call, A answer) {
        MethodDescriptor<C, A> play =
                MethodDescriptor.<C, A>newBuilder()
                        .setType(MethodType.BIDI_STREAMING)
                        .setFullMethodName(service + "/Play")
                        .setRequestMarshaller(ProtoUtils.marshaller(call))
                        .setResponseMarshaller(ProtoUtils.marshaller(answer))
                        .build();
        return new Stream<>(channel.newCall(play, CallOptions.DEFAULT), call);
    }

    /** One stream. */
    static final class Stream<C extends Message, A extends Message> {
        private final ClientCall<C, A> call;
        private final C empty;
        private final BlockingQueue<A> answers = new LinkedBlockingQueue<>();
        private final CompletableFuture<Status> ended = new CompletableFuture<>();

        Stream(ClientCall<C, A> call, C empty) {
            this.call = call;
            this.empty = empty;
            call.start(
                    new ClientCall.Listener<>() {
                        @Override
                        public void onMessage(A answer) {
                            answers.add(answer);
                        }

                        @Override
                        public void onClose(Status status, Metadata trailers) {
                            ended.complete(status);
                        }
                    },
                    new Metadata());
            call.request(1000);
        }

        @SuppressWarnings("unchecked") // Builders of any message build a Message.
        void tell(Message call) {
            assertEquals(empty.getClass(), call.getClass());
            this.call.sendMessage((C) call);
        }

        A ask(Message call) throws InterruptedException {
            return ask(call, 1);
        }

        /** The last of so many answers that come now. */
        A ask(Message call, int count) throws InterruptedException {
            tell(call);
            return answer(count);
        }

        private A answer(int count) throws InterruptedException {
            A answer = null;
            for (int i = 0; i < count; i++) {
                answer = answers.poll(LONG, TimeUnit.SECONDS);
                assertNotNull(answer, () -> "no answer: " + ended.getNow(null));
            }
            return answer;
        }

        /** Begins a game of this name. */
        A begin(String id) throws InterruptedException {
            return ask(start(id).build());
        }

        /** Question 0, to which a game adds its own. */
        Message.Builder start(String id) {
            return call("start", GameStart.newBuilder().setGameId(id).setSeat(1).setSeats(2), 0);
        }

        /** A call whose field of this name is this. */
        Message.Builder call(String field, Message.Builder value, int... number) {
            Message.Builder call = empty.newBuilderForType();
            call.setField(call.getDescriptorForType().findFieldByName(field), value.build());
            for (int one : number) {
                call.setField(call.getDescriptorForType().findFieldByName("number"), one);
            }
            return call;
        }

        /** Closes our side, and waits for the other's: nothing more is said. */
        Status close() throws InterruptedException, ExecutionException, TimeoutException {
            call.halfClose();
            return end();
        }

        /** The same after so many answers. */
        void close(int count) throws InterruptedException, ExecutionException, TimeoutException {
            answer(count);
            assertTrue(close().isOk());
        }

        /** How the bot has ended it; it must not answer any more. */
        Status end() throws InterruptedException, ExecutionException, TimeoutException {
            Status status = ended();
            assertEquals(0, answers.size(), answers::toString);
            return status;
        }

        /** How the bot has ended it, whatever it has answered before. */
        Status ended() throws InterruptedException, ExecutionException, TimeoutException {
            return ended.get(LONG, TimeUnit.SECONDS);
        }

        void cancel() {
            call.cancel("enough", null);
        }
    }
}
