//! What can be wrong with a bot, and how it is mended: the catalogue.

use referee_core::FoulKind;
use serde::Serialize;

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Id {
    Unreachable,
    NoStart,
    SlowStart,
    Unsupported,
    NoReady,
    NoName,
    NoMaxGames,
    NoHealth,
    NoReflection,
    UnknownService,
    Crashed,
    HungUp,
    ErrorStatus,
    Malformed,
    WrongNumber,
    Unsolicited,
    Oversized,
    MemoryExceeded,
    Illegal,
    Late,
    SecondGame,
    FirstMove,
    Resumed,
    FutureField,
    TwoGames,
    CloseToLimit,
    IgnoresLimit,
    Cancelled,
    ThinksOn,
    AfterGameOver,
    HalfClosed,
    MemoryGrows,
    IgnoresSigterm,
    Leftovers,
    TalksALot,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    /// It can enter, but this will cost it games or somebody's time.
    Warning,
    /// It is not fit to enter.
    Fault,
}

/// What there is to say of a finding before it is found.
pub(crate) struct About {
    /// As it is named in events.
    pub(crate) name: &'static str,
    pub(crate) severity: Severity,
    /// What was expected.
    pub(crate) expected: &'static str,
    /// What to do.
    pub(crate) mend: &'static str,
}

/// Something that is wrong with this bot.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) id: Id,
    /// In which games; none where it is no game's.
    pub(crate) games: Vec<&'static str>,
    /// What came instead of what was expected.
    pub(crate) came: String,
    /// Where that can be seen.
    pub(crate) evidence: Option<String>,
}

impl Id {
    /// All of them.
    pub(crate) const ALL: &[Self] = &[
        Self::Unreachable,
        Self::NoStart,
        Self::SlowStart,
        Self::Unsupported,
        Self::NoReady,
        Self::NoName,
        Self::NoMaxGames,
        Self::NoHealth,
        Self::NoReflection,
        Self::UnknownService,
        Self::Crashed,
        Self::HungUp,
        Self::ErrorStatus,
        Self::Malformed,
        Self::WrongNumber,
        Self::Unsolicited,
        Self::Oversized,
        Self::MemoryExceeded,
        Self::Illegal,
        Self::Late,
        Self::SecondGame,
        Self::FirstMove,
        Self::Resumed,
        Self::FutureField,
        Self::TwoGames,
        Self::CloseToLimit,
        Self::IgnoresLimit,
        Self::Cancelled,
        Self::ThinksOn,
        Self::AfterGameOver,
        Self::HalfClosed,
        Self::MemoryGrows,
        Self::IgnoresSigterm,
        Self::Leftovers,
        Self::TalksALot,
    ];

    /// What a foul in a whole game is found to be.
    pub(crate) const fn of_foul(kind: FoulKind) -> Self {
        match kind {
            FoulKind::Unreachable => Self::Unreachable,
            FoulKind::NoStart => Self::NoReady,
            FoulKind::Unsupported => Self::Unsupported,
            FoulKind::Crashed => Self::Crashed,
            FoulKind::HungUp => Self::HungUp,
            FoulKind::ErrorStatus => Self::ErrorStatus,
            FoulKind::Malformed => Self::Malformed,
            FoulKind::WrongNumber => Self::WrongNumber,
            FoulKind::Unsolicited => Self::Unsolicited,
            FoulKind::Oversized => Self::Oversized,
            FoulKind::MemoryExceeded => Self::MemoryExceeded,
            FoulKind::Illegal => Self::Illegal,
            FoulKind::Late => Self::Late,
        }
    }

    pub(crate) const fn about(self) -> About {
        use Severity::{Fault, Warning};
        let (name, severity, expected, mend) = match self {
            Self::Unreachable => (
                "unreachable",
                Fault,
                "a program that can be started, or a bot that listens at the address",
                "look at the path, the rights and the address; start the bot by hand with BOT_LISTEN=unix:/tmp/bot.sock and see what it says",
            ),
            Self::NoStart => (
                "no-start",
                Fault,
                "`listening on ADDRESS` on standard output within the start-up limit, and a gRPC server there",
                "if it ended, its last words say why; with a kit main must call the bot's `main()`, which does not return; a program without a kit must read BOT_LISTEN, listen there, and then print the one line `listening on ADDRESS` and flush it; if it loads for long, give it more time with --start-limit",
            ),
            Self::SlowStart => (
                "slow-start",
                Warning,
                "Ready in less than a third of the start-up limit, so that a busy machine does not make it too late",
                "listen first and load large things while you do; or ask for a longer start-up limit",
            ),
            Self::Unsupported => (
                "unsupported",
                Fault,
                "the service of the game, as its .proto file names it",
                "serve games.<game>.v1.<Game>Bot; see that the package and the service have those names exactly",
            ),
            Self::NoReady => (
                "no-ready",
                Fault,
                "Ready with number 0 as the answer to GameStart within the start-up limit",
                "if the stream ended with a status, its message says what failed, mostly an exception in the constructor; otherwise answer the first call of every stream with Ready, before anything else and without waiting for the stream to end; a server that takes one stream at a time must free it when the stream ends; and with a bot that runs already nobody else may be playing",
            ),
            Self::NoName => (
                "no-name",
                Warning,
                "Ready says what the bot is called",
                "fill in `bot` in Ready, and `version` too: logs are easier to read",
            ),
            Self::NoMaxGames => (
                "no-max-games",
                Warning,
                "Ready says how many games a process can play at once",
                "fill in `max_games` in Ready: without it a process is given one game at a time",
            ),
            Self::NoHealth => (
                "no-health",
                Warning,
                "grpc.health.v1.Health answers SERVING for \"\" and for the game's service",
                "add your gRPC library's health service and set both names to SERVING",
            ),
            Self::NoReflection => (
                "no-reflection",
                Warning,
                "server reflection (v1 or v1alpha) lists the game's service",
                "add your gRPC library's reflection service and give it the game's descriptors",
            ),
            Self::UnknownService => (
                "unknown-service",
                Warning,
                "UNIMPLEMENTED at once where a service is asked for that the bot does not have",
                "remove the handler that catches every call: it hides that a game is not served",
            ),
            Self::Crashed => (
                "crashed",
                Fault,
                "the process lives to the end of the game",
                "run it by hand and read what it printed last; when a game was over, look at game_over, at destructors and at threads; of one in the middle --records keeps the game, and `arena replay rerun` puts the same calls to it again",
            ),
            Self::HungUp => (
                "hung-up",
                Fault,
                "the bot's side of the stream stays open until the game is over",
                "end the stream only when the referee has closed its side",
            ),
            Self::ErrorStatus => (
                "error-status",
                Fault,
                "a stream that ends without an error",
                "the status message says what failed; mostly it is an exception in a callback",
            ),
            Self::Malformed => (
                "malformed",
                Fault,
                "an answer that can be read and fits its question",
                "send the answer message of the game, with every field of the answer set, zero too, and only values that there are",
            ),
            Self::WrongNumber => (
                "wrong-number",
                Fault,
                "the answer has the number of the question",
                "copy `number` from the call to its answer; don't count yourself",
            ),
            Self::Unsolicited => (
                "unsolicited",
                Fault,
                "one answer to each question and none to a notice",
                "answer only calls that have a number, once each",
            ),
            Self::Oversized => (
                "oversized",
                Fault,
                "answers of at most 64 KiB",
                "send the answer alone; logs belong on standard error",
            ),
            Self::MemoryExceeded => (
                "memory-exceeded",
                Fault,
                "less anonymous memory than --memory-limit",
                "make tables and trees smaller, or free them when a game ends",
            ),
            Self::Illegal => (
                "illegal",
                Fault,
                "a move that the rules allow",
                "the reason names the rule; --records keeps the game, and `arena replay show` draws it",
            ),
            Self::Late => (
                "late",
                Fault,
                "an answer within the limit that comes with the question",
                "go by the call's `limit` and keep something of it in reserve",
            ),
            Self::SecondGame => (
                "second-game",
                Fault,
                "one game after another in the same process, each played as if it were the first",
                "something of an earlier game is left: keep all that belongs to a game in the object that is made for it, nothing in globals or in the class",
            ),
            Self::FirstMove => (
                "first-move",
                Fault,
                "no illegal move, however a game begins",
                "begin from what the first calls say (sizes, forbidden cell, stones, hands) and not from the usual beginning",
            ),
            Self::Resumed => (
                "resumed",
                Fault,
                "who says can_resume takes calls with `past_answer` without answering them, and then plays on",
                "on a question with `past_answer` take that answer for your own and answer nothing, at GameStart too; or don't say can_resume",
            ),
            Self::FutureField => (
                "future-field",
                Fault,
                "fields and notices that the bot does not know are passed over",
                "ignore unknown fields and calls without a known content: a later version of the protocol may have more of them",
            ),
            Self::TwoGames => (
                "two-games",
                Fault,
                "as many games at once as max_games says, each as if it were alone",
                "keep everything of a game in one object per stream, no globals; or say a smaller max_games",
            ),
            Self::CloseToLimit => (
                "close-to-limit",
                Warning,
                "answers that take at most four fifths of the move limit",
                "keep more in reserve: the way there and back and a busy machine count too",
            ),
            Self::IgnoresLimit => (
                "ignores-limit",
                Warning,
                "answers within the limit that the question says, where that is shorter than usual",
                "go by the call's `limit` instead of a time of your own",
            ),
            Self::Cancelled => (
                "cancelled",
                Fault,
                "after streams that were cancelled in the middle of a question, new games begin and are played as usual",
                "give up a game when its stream is cancelled: free its place, its thread and its memory, and don't fail because nobody listens any more",
            ),
            Self::ThinksOn => (
                "thinks-on",
                Warning,
                "when a stream is cancelled the bot stops thinking, at the latest when the time of the question is over",
                "look now and then whether the stream still lives, or stop at the question's limit",
            ),
            Self::AfterGameOver => (
                "after-game-over",
                Warning,
                "GameOver is answered with nothing, and the stream ends without an error",
                "the status message says what failed, mostly an exception in game_over; the game is lost by nobody, but what game_over should do is not done",
            ),
            Self::HalfClosed => (
                "half-closed",
                Warning,
                "the bot ends its side of the stream within 1s after GameOver",
                "when the referee has closed its side, return from the handler; with a kit: let game_over and the destructor be quick",
            ),
            Self::MemoryGrows => (
                "memory-grows",
                Warning,
                "memory that stays level over many games",
                "free what belongs to a game when its stream ends",
            ),
            Self::IgnoresSigterm => (
                "ignores-sigterm",
                Warning,
                "with no game running the process ends within 1s of SIGTERM",
                "handle SIGTERM: stop the server at once where no game runs",
            ),
            Self::Leftovers => (
                "leftovers",
                Warning,
                "nothing that the bot has started outlives it",
                "end and wait for child processes before you end yourself; in a wrapper script start the bot with exec",
            ),
            Self::TalksALot => (
                "talks-a-lot",
                Warning,
                "less than 1 MiB of output from a process",
                "print less: what is beyond 1 MiB is not kept, and printing takes thinking time",
            ),
        };
        About {
            name,
            severity,
            expected,
            mend,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_finding_is_listed_once() {
        let names: BTreeSet<_> = Id::ALL.iter().map(|id| id.about().name).collect();
        assert_eq!(names.len(), Id::ALL.len());
        // The last one by number: so none is missing.
        assert_eq!(Id::TalksALot as usize + 1, Id::ALL.len());
        assert!(Id::ALL.is_sorted());
    }
}
