package botarena;

import arena.v1.Envelope.Ready;
import com.google.protobuf.Descriptors.FileDescriptor;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.protobuf.ProtoFileDescriptorSupplier;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The service of a game, whose messages are bytes. */
final class Services {
    private Services() {}

    static <B extends GameBot> ServerServiceDefinition of(
            Session.Served<B> served, Ready ready, GameSlots slots) {
        MethodDescriptor<byte[], byte[]> play = play(served.game());
        ProtoFileDescriptorSupplier file = served.game()::file;
        ServiceDescriptor service =
                ServiceDescriptor.newBuilder(served.game().service())
                        .setSchemaDescriptor(file)
                        .addMethod(play)
                        .build();
        return ServerServiceDefinition.builder(service)
                .addMethod(play, Stream.handler(served, ready, slots))
                .build();
    }

    /** The one call of a game. */
    static MethodDescriptor<byte[], byte[]> play(Game<?> game) {
        return method(game.service() + "/Play", BYTES, BYTES);
    }

    /** A call whose both sides are streams. */
    static <I, O> MethodDescriptor<I, O> method(
            String name, Marshaller<I> request, Marshaller<O> reply) {
        return MethodDescriptor.<I, O>newBuilder()
                .setType(MethodType.BIDI_STREAMING)
                .setFullMethodName(name)
                .setRequestMarshaller(request)
                .setResponseMarshaller(reply)
                .build();
    }

    private static final Marshaller<byte[]> BYTES =
            new Marshaller<>() {
                @Override
                public InputStream stream(byte[] message) {
                    return new ByteArrayInputStream(message);
                }

                @Override
                public byte[] parse(InputStream stream) {
                    try {
                        return stream.readAllBytes();
                    } catch (IOException error) {
                        throw new UncheckedIOException(error);
                    }
                }
            };
}
