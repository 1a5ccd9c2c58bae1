//! The catalogue of what can be wrong with a bot, and how to fix it.

use std::{borrow::Cow, path::PathBuf};

use arena_events::check::{FindingName, FindingSeverity, PossibleFindingEvent};
use referee_bots::Interface;
use referee_core::{Foul, FoulKind, Scene};

use crate::evidence::Evidence;

/// Something that is wrong with a bot.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Name of the finding.
    pub name: FindingName,
    /// The names of the games in which it was found; none where it is of the program.
    pub games: Vec<&'static str>,
    /// The observed behaviour, which is not the expected one.
    pub evidence: Evidence,
    /// The record of a game that shows it, where it was kept.
    pub record: Option<PathBuf>,
    /// The bot's view of the position when it committed the foul.
    pub position: Option<Scene>,
    /// The last lines that the bot had printed by then.
    pub last_output: Vec<String>,
    /// True if the bot may keep the game in globals from its first move on, and its SPEC does not
    /// say so: it fails where a game begins in the middle, and nowhere else.
    pub may_keep_globals: bool,
}

impl Finding {
    /// Its row of the catalogue.
    #[must_use]
    pub const fn possible(&self) -> &'static PossibleFindingEvent {
        &CATALOGUE[self.name as usize]
    }
}

/// Advice to fix it in code that is behind an adapter of ours, where the catalogue's advice does
/// not fit: such code has no streams.
#[must_use]
pub const fn fix_behind_adapter(interface: Interface, name: FindingName) -> Option<&'static str> {
    match interface {
        Interface::Protocol => None,
        Interface::Strategy => fix_of_strategy(name),
        Interface::Lines => fix_of_lines(name),
        Interface::Engine => fix_of_engine(name),
        Interface::Agent => fix_of_agent(name),
    }
}

/// For a program that reads and writes lines.
const fn fix_of_lines(name: FindingName) -> Option<&'static str> {
    Some(match name {
        FindingName::NoStart | FindingName::NoReady => {
            "answer the line with \"call\":\"start\" with the line {\"ready\":{}} and flush it; if it ended, the last lines of its output say why: run it by hand and type {\"call\":\"start\",\"number\":0} (docs/stdio.md)"
        }
        FindingName::SlowStart => {
            "load large data at the first question of a game; or use a longer start-up limit"
        }
        FindingName::Unsupported => {
            "it has answered the start with {\"error\": …}: name a game that it plays"
        }
        FindingName::ErrorStatus => {
            "the message says what came and what was expected; docs/stdio.md has a whole program for each game"
        }
        FindingName::NoName => {
            "answer the start with {\"ready\":{\"bot\":\"my bot\",\"version\":\"1\"}}"
        }
        FindingName::Late | FindingName::CloseToLimit => {
            "answer within the call's \"limit\", which is in seconds, and keep a reserve; flush each answer"
        }
        FindingName::Resumed => {
            "take the \"past_answer\" of a question as your own answer and print none; or don't say can_resume"
        }
        FindingName::TwoGames => {
            "games share files and nothing else: give each process files of its own; or say a smaller max-games in the SPEC"
        }
        _ => return None,
    })
}

/// For an agent of Kaggle's ConnectX.
const fn fix_of_agent(name: FindingName) -> Option<&'static str> {
    Some(match name {
        FindingName::NoStart | FindingName::NoReady => {
            "the message says why: the file is run when a game begins, and must have an agent, a function of observation and configuration; packages that it imports must be there for python3"
        }
        FindingName::SlowStart => {
            "import less, and compute large tables in the first move; or use a longer start-up limit"
        }
        FindingName::ErrorStatus => {
            "the message has the line of the file; the agent must return the number of a column that is not full, from 0"
        }
        FindingName::Late | FindingName::CloseToLimit | FindingName::IgnoresLimit => {
            "let it search less deep, or look at time.monotonic() more often: configuration.actTimeout is the limit in seconds, and there is no overage time"
        }
        FindingName::FirstMove => {
            "take the stones from observation.board and the size from configuration"
        }
        FindingName::TwoGames => {
            "games share files and nothing else: give each process files of its own; or say a smaller max-games in the SPEC"
        }
        _ => return None,
    })
}

/// For an engine with a protocol of its own.
const fn fix_of_engine(name: FindingName) -> Option<&'static str> {
    Some(match name {
        FindingName::NoStart | FindingName::NoReady => {
            "the message says at which command it ended, and its last words: run it by hand in the bot's folder and type 1 boardsize 8, 2 clear_board and 3 genmove black, each with Enter: it must answer each with =1, =2, =3 or with ?, and an empty line; files that it reads must be in the folder of its program or named in its arguments"
        }
        FindingName::ErrorStatus => "the message says what it answered to which command",
        FindingName::Late | FindingName::CloseToLimit | FindingName::IgnoresLimit => {
            "let it think less: a level or a time in its own arguments, or ?time=SECONDS in the SPEC; GTP tells it whole seconds alone"
        }
        FindingName::FirstMove => {
            "if it has a command that sets up a position, name it in the SPEC: ?setup=COMMAND"
        }
        FindingName::TwoGames => {
            "games share files and nothing else: say a smaller max-games in the SPEC"
        }
        _ => return None,
    })
}

/// For a compiled strategy, which has no Ready and no limits.
const fn fix_of_strategy(name: FindingName) -> Option<&'static str> {
    Some(match name {
        FindingName::NoStart | FindingName::NoReady => {
            "the linker's words, or the last lines of its output, say why; compile it on this machine, and look at what runs while it is loaded: the constructors of globals"
        }
        FindingName::SlowStart => {
            "do less while it is loaded: compute large tables when you compile, or in the first getPoint"
        }
        FindingName::Unsupported => {
            "define getPoint and clearPoint exactly as the interface has them, both extern \"C\""
        }
        FindingName::ErrorStatus => {
            "the message says in which function it failed, and its last words; call that function by hand in this position, compiled with -g -fsanitize=address,undefined"
        }
        FindingName::Late | FindingName::CloseToLimit => {
            "look at the clock more often and keep a larger reserve; clock() counts the processor time of all threads, so take std::chrono::steady_clock"
        }
        FindingName::FirstMove => {
            "take sizes, forbidden cell and stones from the arguments of every getPoint; don't assume the usual ones"
        }
        FindingName::Resumed => {
            "take the whole position from the arguments of every getPoint; or say keeps-globals in the SPEC"
        }
        FindingName::TwoGames => {
            "games share files and nothing else: give each process files of its own; or say a smaller max-games in the SPEC"
        }
        _ => return None,
    })
}

/// Name of the finding for a foul in a game.
pub(crate) const fn name_of_foul(kind: FoulKind) -> FindingName {
    match kind {
        FoulKind::Unreachable => FindingName::Unreachable,
        FoulKind::NoStart => FindingName::NoReady,
        FoulKind::Unsupported => FindingName::Unsupported,
        FoulKind::Crashed => FindingName::Crashed,
        FoulKind::HungUp | FoulKind::Resigned => FindingName::HungUp,
        FoulKind::ErrorStatus => FindingName::ErrorStatus,
        FoulKind::Malformed => FindingName::Malformed,
        FoulKind::WrongNumber => FindingName::WrongNumber,
        FoulKind::Unsolicited => FindingName::Unsolicited,
        FoulKind::Oversized => FindingName::Oversized,
        FoulKind::MemoryExceeded => FindingName::MemoryExceeded,
        FoulKind::Illegal => FindingName::Illegal,
        FoulKind::Flooded => FindingName::Flooded,
        FoulKind::Late | FoulKind::Interfered => FindingName::Late,
    }
}

/// Advice that mends most fouls of this kind, in code with this interface.
#[must_use]
pub fn fix_of_foul(foul: &Foul, interface: Interface) -> &'static str {
    let name = match foul {
        // Until it listens there is no stream.
        Foul::NoStart { detail } if detail.contains("listen") => FindingName::NoStart,
        foul => name_of_foul(foul.kind()),
    };
    fix_behind_adapter(interface, name).unwrap_or(&CATALOGUE[name as usize].fix)
}

const fn fault(id: FindingName, expected: &'static str, fix: &'static str) -> PossibleFindingEvent {
    PossibleFindingEvent {
        id,
        severity: FindingSeverity::Fault,
        expected: Cow::Borrowed(expected),
        fix: Cow::Borrowed(fix),
    }
}

const fn warning(
    id: FindingName,
    expected: &'static str,
    fix: &'static str,
) -> PossibleFindingEvent {
    PossibleFindingEvent {
        id,
        severity: FindingSeverity::Warning,
        expected: Cow::Borrowed(expected),
        fix: Cow::Borrowed(fix),
    }
}

/// Everything that can be wrong, in the order of [`FindingName`].
pub const CATALOGUE: &[PossibleFindingEvent] = &[
    fault(
        FindingName::Unreachable,
        "a program that can be started, or a bot that listens at the address",
        "look at the path, the rights and the address; start the bot by hand with BOT_LISTEN=unix:/tmp/bot.sock and see what it says",
    ),
    fault(
        FindingName::NoStart,
        "`listening on ADDRESS` on standard output within the start-up limit, and a gRPC server there",
        "if it ended, the last lines of its output say why; with a kit, the program must call the bot's `main()`, which does not return; a program without a kit must read BOT_LISTEN, listen there, and then print the one line `listening on ADDRESS` and flush it; if it loads for long, give it more time with --start-limit",
    ),
    warning(
        FindingName::SlowStart,
        "Ready within a third of the start-up limit, so that it is in time on a busy machine too",
        "listen first and load large data afterwards; or use a longer start-up limit",
    ),
    fault(
        FindingName::Unsupported,
        "the game that is asked for",
        "with a kit, give the Bot this game too, as in .connect_four(Mine); without one, serve games.<game>.v1.<Game>Bot: the package and the service must have exactly these names",
    ),
    fault(
        FindingName::NoReady,
        "Ready with number 0 as the answer to GameStart within the start-up limit",
        "if the stream ended with a status, its message says what failed, most often an exception in the constructor; otherwise answer the first call of every stream with Ready, before anything else and without waiting for the stream to end; a server that takes one stream at a time must take the next one when a stream has ended; a bot that was already running must play with nobody else",
    ),
    warning(
        FindingName::NoName,
        "Ready says what the bot is called",
        "fill in `bot` in Ready, and `version` too: logs are easier to read",
    ),
    warning(
        FindingName::NoMaxGames,
        "Ready says how many games a process can play at once",
        "fill in `max_games` in Ready: without it a process is given one game at a time",
    ),
    warning(
        FindingName::NoHealth,
        "grpc.health.v1.Health answers SERVING for \"\" and for the game's service",
        "add your gRPC library's health service and set both names to SERVING",
    ),
    warning(
        FindingName::NoReflection,
        "server reflection (v1 or v1alpha) lists the game's service",
        "add your gRPC library's reflection service and give it the game's descriptors",
    ),
    warning(
        FindingName::UnknownService,
        "UNIMPLEMENTED at once for a service that the bot does not have",
        "remove the handler that catches every call: it hides that a game is not served",
    ),
    fault(
        FindingName::Crashed,
        "the process runs until the game is over",
        "run it by hand and read the last lines of its output; if it ended when a game was over, look at game_over, destructors and threads; if it ended during a game, keep the game with --records and send the same calls again with `arena replay rerun`",
    ),
    fault(
        FindingName::HungUp,
        "the bot's side of the stream stays open until the game is over",
        "end the stream only when the referee has closed its side",
    ),
    fault(
        FindingName::ErrorStatus,
        "a stream that ends without an error",
        "the status message says what failed; most often it is an exception in a callback",
    ),
    fault(
        FindingName::Malformed,
        "an answer that can be decoded and fits its question",
        "send the answer message of the game with every field of the answer set, also those that are zero, and with valid values only",
    ),
    fault(
        FindingName::WrongNumber,
        "the answer has the number of the question",
        "copy `number` from the call to its answer; don't count yourself",
    ),
    fault(
        FindingName::Unsolicited,
        "one answer to each question and none to a notice",
        "answer only calls that have a number, once each",
    ),
    fault(
        FindingName::Oversized,
        "answers of at most 64 KiB",
        "send the answer alone; logs belong on standard error",
    ),
    fault(
        FindingName::Flooded,
        "no more frames and bytes than the answers need",
        "send nothing but answers on the connection; if a library sends the rest, turn that off (keep-alive pings many times a second, say)",
    ),
    fault(
        FindingName::MemoryExceeded,
        "less anonymous memory than --memory-limit",
        "make tables and trees smaller, or free them when a game ends; BOT_MEMORY_LIMIT in the environment says how much there is, and for Java -Xmx says how large its heap may become; --memory-limit allows more",
    ),
    fault(
        FindingName::Illegal,
        "a move that the rules allow",
        "the reason names the rule; --records keeps the game, and `arena replay show` draws it",
    ),
    fault(
        FindingName::Late,
        "an answer within the limit that comes with the question",
        "obey the call's `limit` and keep a reserve",
    ),
    fault(
        FindingName::SecondGame,
        "games one after another in the same process, each played like the first",
        "data of an earlier game is left: keep all data of a game in the object that is made for it, and none in globals or in the class",
    ),
    fault(
        FindingName::FirstMove,
        "no illegal move, however a game begins",
        "take the beginning from the first calls (sizes, forbidden cell, stones, hands); don't assume the usual one",
    ),
    fault(
        FindingName::Resumed,
        "a bot that says can_resume takes calls with `past_answer` without answering them, and then plays on",
        "treat the `past_answer` of a question as your own answer and send none, also at GameStart; or don't say can_resume",
    ),
    fault(
        FindingName::FutureField,
        "unknown fields and unknown notices are ignored",
        "ignore unknown fields, and calls whose content is unknown: a later version of the protocol may have more of them",
    ),
    fault(
        FindingName::TwoGames,
        "as many games at once as max_games says, each played as if it were the only one",
        "keep all data of a game in one object per stream and none in globals; or say a smaller max_games",
    ),
    warning(
        FindingName::CloseToLimit,
        "answers that take at most four fifths of the move limit",
        "keep a larger reserve: the transport and a busy machine take time too",
    ),
    warning(
        FindingName::IgnoresLimit,
        "answers within the limit of the question, also where it is shorter than usual",
        "obey the call's `limit` instead of a time of your own",
    ),
    fault(
        FindingName::Cancelled,
        "after streams that were cancelled in the middle of a question, new games begin and are played as usual",
        "end a game when its stream is cancelled: free its thread and its memory, take another game instead, and don't fail when an answer can't be sent",
    ),
    warning(
        FindingName::ThinksOn,
        "the bot stops thinking when its stream is cancelled, at the latest when the time of the question is over",
        "check from time to time whether the stream is still open, or stop at the question's limit",
    ),
    warning(
        FindingName::AfterGameOver,
        "GameOver is answered with nothing, and the stream ends without an error",
        "the status message says what failed, most often an exception in game_over; no game is lost by it, but game_over was not finished",
    ),
    warning(
        FindingName::HalfClosed,
        "the bot ends its side of the stream within 1s after GameOver",
        "return from the handler when the referee has closed its side; with a kit, make game_over and the destructor fast",
    ),
    warning(
        FindingName::MemoryGrows,
        "constant memory over many games",
        "free what belongs to a game when its stream ends",
    ),
    warning(
        FindingName::IgnoresSigterm,
        "the process ends within 1s of SIGTERM when no game is running",
        "handle SIGTERM: stop the server at once when no game is running",
    ),
    warning(
        FindingName::Leftovers,
        "processes that the bot has started end with it",
        "end child processes and wait for them before the bot ends; in a wrapper script start the bot with exec",
    ),
    warning(
        FindingName::TalksALot,
        "less than 1 MiB of output from a process",
        "print less: output beyond 1 MiB is not kept, and printing takes thinking time",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_is_in_the_catalogue_at_its_own_place() {
        for (at, row) in CATALOGUE.iter().enumerate() {
            assert_eq!(row.id as usize, at);
        }
        // The last one that there is.
        assert_eq!(FindingName::TalksALot as usize + 1, CATALOGUE.len());
    }
}
