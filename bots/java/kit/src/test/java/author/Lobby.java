package author;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import arena.v1.LobbyOuterClass.FromBot;
import arena.v1.LobbyOuterClass.FromSeat;
import arena.v1.LobbyOuterClass.Greeting;
import arena.v1.LobbyOuterClass.Invitation;
import arena.v1.LobbyOuterClass.Take;
import arena.v1.LobbyOuterClass.ToBot;
import arena.v1.LobbyOuterClass.ToSeat;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import games.connect_four.v1.ConnectFour.ConnectFourAnswer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The lobby of an arena, which is the test. */
final class Lobby implements AutoCloseable {
    static final ByteString KEY = ByteString.copyFromUtf8("0123456789abcdef");
    private static final String CONNECT_FOUR = "games.connect_four.v1.ConnectFourBot";

    /** What the headers said of who calls. */
    final Set<String> callers = Collections.synchronizedSet(new LinkedHashSet<>());

    private final BlockingQueue<Object> bots = new LinkedBlockingQueue<>();
    private final BlockingQueue<Object> seats = new LinkedBlockingQueue<>();
    private final Server server;

    Lobby() throws IOException {
        ServerServiceDefinition service =
                ServerServiceDefinition.builder("arena.v1.Lobby")
                        .addMethod(
                                method(
                                        "Attend",
                                        FromBot.getDefaultInstance(),
                                        ToBot.getDefaultInstance()),
                                ServerCalls.asyncBidiStreamingCall(
                                        down -> opened(bots, new Link<FromBot, ToBot>(down))))
                        .addMethod(
                                method(
                                        "Play",
                                        FromSeat.getDefaultInstance(),
                                        ToSeat.getDefaultInstance()),
                                ServerCalls.asyncBidiStreamingCall(
                                        down -> opened(seats, new Link<FromSeat, ToSeat>(down))))
                        .build();
        ServerInterceptor callers =
                new ServerInterceptor() {
                    @Override
                    public <I, O> ServerCall.Listener<I> interceptCall(
                            ServerCall<I, O> call, Metadata headers, ServerCallHandler<I, O> next) {
                        Lobby.this.callers.add(
                                headers.get(
                                        Metadata.Key.of(
                                                "authorization",
                                                Metadata.ASCII_STRING_MARSHALLER)));
                        return next.startCall(call, headers);
                    }
                };
        server =
                NettyServerBuilder.forAddress(
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .addService(service)
                        .intercept(callers)
                        .build()
                        .start();
    }

    private static <I, O> Link<I, O> opened(BlockingQueue<Object> links, Link<I, O> link) {
        links.add(link);
        return link;
    }

    private static <I extends Message, O extends Message> MethodDescriptor<I, O> method(
            String name, I request, O reply) {
        return MethodDescriptor.<I, O>newBuilder()
                .setType(MethodType.BIDI_STREAMING)
                .setFullMethodName("arena.v1.Lobby/" + name)
                .setRequestMarshaller(ProtoUtils.marshaller(request))
                .setResponseMarshaller(ProtoUtils.marshaller(reply))
                .build();
    }

    private static <T> T next(BlockingQueue<?> of, Class<T> kind) throws InterruptedException {
        return assertInstanceOf(kind, of.poll(Referee.LONG, TimeUnit.SECONDS));
    }

    String url() {
        return "http://127.0.0.1:" + server.getPort();
    }

    /** The next control stream, whose bot is greeted. */
    @SuppressWarnings("unchecked")
    Link<FromBot, ToBot> bot() throws InterruptedException {
        Link<FromBot, ToBot> link = next(bots, Link.class);
        assertEquals(CONNECT_FOUR, link.next(FromBot.class).getHello().getServices(0));
        link.down.onNext(ToBot.newBuilder().setGreeting(Greeting.newBuilder().setName("me")).build());
        return link;
    }

    /** The next stream of a seat. */
    @SuppressWarnings("unchecked")
    Link<FromSeat, ToSeat> seat() throws InterruptedException {
        return next(seats, Link.class);
    }

    static ToBot invitation() {
        Invitation.Builder to = Invitation.newBuilder().setKey(KEY).setService(CONNECT_FOUR);
        return ToBot.newBuilder().setInvitation(to).build();
    }

    /** The call of a game as it is sent to a seat. */
    static ToSeat call(Message.Builder call) {
        return ToSeat.newBuilder().setCall(call.build().toByteString()).build();
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    /** One stream of a bot. */
    static final class Link<I, O> implements StreamObserver<I> {
        final StreamObserver<O> down;
        // Messages, and at last the status.
        private final BlockingQueue<Object> heard = new LinkedBlockingQueue<>();

        Link(StreamObserver<O> down) {
            this.down = down;
        }

        <T> T next(Class<T> kind) throws InterruptedException {
            return Lobby.next(heard, kind);
        }

        Take take() throws InterruptedException {
            return next(FromSeat.class).getTake();
        }

        ConnectFourAnswer answer() throws Exception {
            return ConnectFourAnswer.parseFrom(next(FromSeat.class).getAnswer());
        }

        @Override
        public void onNext(I message) {
            heard.add(message);
        }

        @Override
        public void onError(Throwable error) {
            heard.add(Status.fromThrowable(error));
        }

        @Override
        public void onCompleted() {
            heard.add(Status.OK);
        }
    }
}
