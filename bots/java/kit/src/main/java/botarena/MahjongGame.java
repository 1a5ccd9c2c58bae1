package botarena;

import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import games.mahjong.v1.Mahjong;
import games.mahjong.v1.Mahjong.Claim;
import games.mahjong.v1.Mahjong.MahjongAnswer;
import games.mahjong.v1.Mahjong.MahjongCall;
import java.time.Duration;
import java.util.Optional;

/** The messages of Mahjong. */
final class MahjongGame implements Game<MahjongBot> {
    @Override
    public String service() {
        return "games.mahjong.v1.MahjongBot";
    }

    @Override
    public FileDescriptor file() {
        return Mahjong.getDescriptor();
    }

    @Override
    public Class<MahjongBot> bot() {
        return MahjongBot.class;
    }

    @Override
    public void begin(MahjongBot bot, byte[] bytes, Callbacks callbacks)
            throws Fault, InvalidProtocolBufferException {
        MahjongCall call = MahjongCall.parseFrom(bytes);
        if (call.hasRound()) {
            Mahjong.Round it = call.getRound();
            Round round = new Round(it.getMissingSuitRequired(), it.getWall());
            callbacks.run("getRound", () -> bot.getRound(round));
        }
    }

    @Override
    public Optional<MessageLite> hear(MahjongBot bot, byte[] bytes, Callbacks callbacks)
            throws Fault, InvalidProtocolBufferException {
        MahjongCall call = MahjongCall.parseFrom(bytes);
        Duration limit = Game.limit(call.getLimit());
        switch (call.getCallCase()) {
            case GET_DRAW -> {
                for (int drawn : call.getGetDraw().getTilesValueList()) {
                    Tile tile = tile(drawn);
                    callbacks.run("getDraw", () -> bot.getDraw(tile));
                }
            }
            case GET_OPP_DISCARD -> {
                Tile tile = tile(call.getGetOppDiscard().getTileValue());
                callbacks.run("getOppDiscard", () -> bot.getOppDiscard(tile));
            }
            case REQUEST_DISCARD -> {
                if (!call.hasPastAnswer()) {
                    return Optional.of(
                            callbacks.call(
                                    "requestDiscard", () -> discard(bot.requestDiscard(limit))));
                }
                Tile tile = tile(call.getPastAnswer().getDiscardValue());
                callbacks.run("resumedDiscard", () -> bot.resumedDiscard(tile));
            }
            case REQUEST_WIN -> {
                Tile tile = tile(call.getRequestWin().getWinningTileValue());
                boolean own = call.getRequestWin().getIsSelfDraw();
                if (!call.hasPastAnswer()) {
                    return Optional.of(
                            callbacks.call(
                                    "requestWin", () -> claim(bot.requestWin(tile, own, limit))));
                }
                boolean win = call.getPastAnswer().getWin() == Claim.CLAIM_WIN;
                callbacks.run("resumedWin", () -> bot.resumedWin(tile, own, win));
            }
            default -> {}
        }
        return Optional.empty();
    }

    private static Tile tile(int number) throws Fault {
        return Tile.of(number).orElseThrow(() -> Fault.malformed("no tile " + number));
    }

    private static MessageLite discard(Tile tile) throws Fault {
        if (tile == null) {
            throw Fault.wrong("requestDiscard", null, "a Tile of the hand");
        }
        return MahjongAnswer.newBuilder().setDiscardValue(tile.number()).build();
    }

    private static MessageLite claim(boolean win) {
        return MahjongAnswer.newBuilder()
                .setWin(win ? Claim.CLAIM_WIN : Claim.CLAIM_PASS)
                .build();
    }
}
