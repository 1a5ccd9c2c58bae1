//! The catalogue: what each kind does, and what is to come of it.

use clap::{ValueEnum as _, builder::PossibleValue};
use referee_core::FoulKind;

/// What a villain does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// No foul: plays by the rules, at random, the same for the same bot_seed.
    Honest,
    /// No foul: takes `--delay` (100 ms) for every answer, Ready among them.
    Slow,
    /// No foul: takes `--delay` (2 s) before it listens.
    SlowStart,
    /// No foul: every answer is as large as is allowed, 64 KiB.
    Bulky,
    /// No foul, but starts a process of its own that would outlive it.
    Litter,

    /// Start: exits with code 3 before it listens.
    ExitAtOnce,
    /// Start: never listens.
    Silent,
    /// Start: says that it listens, but does not.
    Deaf,
    /// Start: says that it listens, but at something that is not an address.
    Misdirected,
    /// Start: takes connections and never says a word.
    Mute,
    /// Start: serves health, but not the game.
    Unsupported,
    /// Start: aborts when it is sent GameStart.
    CrashAtStart,
    /// Start: closes the stream when it is sent GameStart.
    HangUpAtStart,
    /// Start: never answers GameStart.
    NeverReady,
    /// Start: answers GameStart with a point.
    NotReady,
    /// Start: says that its answers are compressed (`grpc-encoding: gzip`).
    Compressed,

    /// Aborts.
    Crash,
    /// Prints a last word and exits with code 3.
    Exit,
    /// Ends the stream in order.
    HangUp,
    /// Ends the stream with the status FAILED_PRECONDITION and a message.
    ErrorStatus,
    /// Ends the stream without a status.
    NoStatus,
    /// Resets the stream.
    Reset,
    /// Answers with bytes that are no message.
    Malformed,
    /// Sends bytes that are not even framed as messages.
    Unframed,
    /// Answers with a message that has a number and nothing else.
    Empty,
    /// Answers with a point that lacks y.
    Incomplete,
    /// Answers with Ready.
    ReadyAgain,
    /// Answers without a number.
    NoNumber,
    /// Answers with the next question's number.
    WrongNumber,
    /// Answers with the previous question's number.
    PastNumber,
    /// Answers twice.
    Unsolicited,
    /// Answers without end.
    Flood,
    /// Answers with a message of one byte more than 64 KiB.
    Oversized,
    /// Sends PING without end instead of its answer.
    FloodsPings,
    /// Sends acknowledgements of PING without end instead of its answer.
    FloodsPingAcks,
    /// Sends SETTINGS without end instead of its answer.
    FloodsSettings,
    /// Sends frames of an unknown type without end instead of its answer.
    FloodsUnknownFrames,
    /// Sends empty DATA without end instead of its answer.
    FloodsEmptyData,
    /// Sends WINDOW_UPDATE without end instead of its answer.
    FloodsWindowUpdates,
    /// Sends PRIORITY without end instead of its answer.
    FloodsPriorities,
    /// Sends headers and empty CONTINUATION without end instead of its answer.
    FloodsContinuations,
    /// Sends RST_STREAM without end instead of its answer.
    FloodsResets,
    /// Sends a trailer without end instead of its answer.
    FloodsTrailers,
    /// Sends 256 KiB of trailers at once instead of its answer.
    LargeTrailers,
    /// Takes `--megabytes` of memory and waits for an hour.
    Memory,
    /// Plays into a column that the board does not have.
    Illegal,
    /// Plays into a cell above the next free one.
    Floating,
    /// Plays into a cell below the next free one.
    Occupied,
    /// Fills the leftmost column, and when it is full plays there again.
    Full,
    /// Answers after an hour.
    Late,
    /// Never answers, and keeps its only thread busy.
    BusyLate,

    /// Unfit: says Ready without a name.
    Nameless,
    /// Unfit: does not say how many games it can play at once.
    UnsaidMaxGames,
    /// Unfit: has no health service.
    NoHealth,
    /// Unfit: has no server reflection.
    NoReflection,
    /// Unfit: answers OK, with an empty message, whatever service is called.
    AnswersAnyService,
    /// Unfit: where the board has more rows than columns, its first point is
    /// off the board.
    FailsOnTallBoards,
    /// Unfit: in each game that a process plays after its first, its first point is
    /// off the board.
    Stale,
    /// Unfit: says that it can be resumed, but answers old questions again.
    CannotResume,
    /// Unfit: ends its stream with an error where a call has a field, or is of
    /// a kind, that it does not know.
    ChokesOnNewFields,
    /// Unfit: says that it can play `--max-games` (8) at once; when three run in
    /// a process the newest ends with an error.
    Overcommitted,
    /// Unfit: takes nine tenths of the time that each point may take.
    LastMinute,
    /// Unfit: takes `--delay` (1 s) for each point, whatever the limit says.
    Clockless,
    /// Unfit: counts cancelled games as running for ever, and refuses more than
    /// `--max-games` (8).
    Clings,
    /// Unfit: takes `--delay` (20 ms) for each point; cancelled meanwhile, it
    /// keeps the cores busy for a minute.
    ThinksOn,
    /// Unfit: ends its stream with an error when the game is over.
    ErrorWhenOver,
    /// Unfit: does not end its stream when the game is over, until it is
    /// cancelled, and refuses more than `--max-games` (1000) until then.
    NeverCloses,
    /// Unfit: exits with code 3 whenever a game is over.
    ExitWhenOver,
    /// Unfit: keeps `--kilobytes` of memory for ever for each game.
    Leaks,
    /// Unfit: does nothing when it is sent SIGTERM.
    IgnoresSigterm,
    /// Unfit: prints 100 KiB for each point.
    Chatty,

    /// Remembers: gives up when this process has met the round before.
    KnowsRounds,
    /// Remembers: gives up when this process has been dealt the hand before.
    KnowsHands,
    /// Looks into `--folder` whenever it is asked, and gives up when there is a
    /// record of its own round.
    Snoops,
    /// Whispers: tells the other bot of its table and its own next process its hand in Mahjong, by
    /// locks on files of the system and by the pages of `--book` that it reads, and gives up when
    /// it hears one.
    Whispers,
}

impl Kind {
    /// All of them, in order.
    #[must_use]
    pub fn all() -> &'static [Self] {
        Self::value_variants()
    }

    /// As it is called on the command line.
    #[must_use]
    pub fn name(self) -> String {
        self.value().get_name().to_owned()
    }

    /// The behaviour of the kind, in a sentence.
    #[must_use]
    pub fn does(self) -> String {
        let help = self.value().get_help().map(ToString::to_string);
        let help = help.expect("every kind has a doc comment");
        format!("{}.", help.trim_end_matches('.'))
    }

    fn value(self) -> PossibleValue {
        self.to_possible_value().expect("no kind is skipped")
    }

    /// The foul that it commits in an ordinary game; in that of its
    /// [`test_game`](Self::test_game), where it plays by the rules in others.
    #[must_use]
    pub const fn foul(self) -> Option<FoulKind> {
        self.expected().0
    }

    /// The finding of `arena check` about it, if any.
    #[must_use]
    pub const fn finding(self) -> Option<&'static str> {
        self.expected().1
    }

    /// Its foul and its finding.
    const fn expected(self) -> (Option<FoulKind>, Option<&'static str>) {
        use FoulKind as Foul;
        match self {
            Self::Honest
            | Self::Slow
            | Self::Bulky
            | Self::KnowsRounds
            | Self::KnowsHands
            | Self::Snoops
            | Self::Whispers => (None, None),
            Self::ExitAtOnce | Self::Silent | Self::Deaf | Self::Misdirected | Self::Mute => {
                (Some(Foul::NoStart), Some("no-start"))
            }
            Self::CrashAtStart
            | Self::HangUpAtStart
            | Self::NeverReady
            | Self::NotReady
            | Self::Compressed => (Some(Foul::NoStart), Some("no-ready")),
            Self::Unsupported => (Some(Foul::Unsupported), Some("unsupported")),
            Self::Crash | Self::Exit | Self::Reset => (Some(Foul::Crashed), Some("crashed")),
            Self::HangUp => (Some(Foul::HungUp), Some("hung-up")),
            Self::ErrorStatus | Self::NoStatus => (Some(Foul::ErrorStatus), Some("error-status")),
            Self::Malformed
            | Self::Unframed
            | Self::Empty
            | Self::Incomplete
            | Self::ReadyAgain
            | Self::NoNumber
            | Self::FloodsResets => (Some(Foul::Malformed), Some("malformed")),
            Self::WrongNumber | Self::PastNumber => (Some(Foul::WrongNumber), Some("wrong-number")),
            Self::Unsolicited | Self::Flood => (Some(Foul::Unsolicited), Some("unsolicited")),
            Self::Oversized => (Some(Foul::Oversized), Some("oversized")),
            Self::FloodsPings
            | Self::FloodsPingAcks
            | Self::FloodsSettings
            | Self::FloodsUnknownFrames
            | Self::FloodsEmptyData
            | Self::FloodsWindowUpdates
            | Self::FloodsPriorities
            | Self::FloodsContinuations
            | Self::FloodsTrailers
            | Self::LargeTrailers => (Some(Foul::Flooded), Some("flooded")),
            Self::Memory => (Some(Foul::MemoryExceeded), Some("memory-exceeded")),
            Self::Illegal | Self::Floating | Self::Occupied => {
                (Some(Foul::Illegal), Some("illegal"))
            }
            // `Full` nearly always wins by a line on an ordinary board.
            Self::FailsOnTallBoards | Self::Full => (Some(Foul::Illegal), Some("first-move")),
            Self::Late | Self::BusyLate => (Some(Foul::Late), Some("late")),
            Self::SlowStart => (None, Some("slow-start")),
            Self::Litter => (None, Some("leftovers")),
            Self::Nameless => (None, Some("no-name")),
            Self::UnsaidMaxGames => (None, Some("no-max-games")),
            Self::NoHealth => (None, Some("no-health")),
            Self::NoReflection => (None, Some("no-reflection")),
            Self::AnswersAnyService => (None, Some("unknown-service")),
            Self::Stale => (None, Some("second-game")),
            Self::CannotResume => (None, Some("resumed")),
            Self::ChokesOnNewFields => (None, Some("future-field")),
            Self::Overcommitted => (None, Some("two-games")),
            Self::LastMinute => (None, Some("close-to-limit")),
            Self::Clockless => (None, Some("ignores-limit")),
            Self::Clings => (None, Some("cancelled")),
            Self::ThinksOn => (None, Some("thinks-on")),
            Self::ErrorWhenOver => (None, Some("after-game-over")),
            Self::NeverCloses => (None, Some("half-closed")),
            Self::ExitWhenOver => (None, Some("crashed")),
            Self::Leaks => (None, Some("memory-grows")),
            Self::IgnoresSigterm => (None, Some("ignores-sigterm")),
            Self::Chatty => (None, Some("talks-a-lot")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_says_what_it_does_in_a_sentence() {
        for kind in Kind::all() {
            let does = kind.does();
            assert!(does.starts_with(char::is_uppercase), "{kind:?}: {does}");
            assert!(
                does.len() > "A.".len() && !does.ends_with(".."),
                "{kind:?}: {does}"
            );
        }
    }

    #[test]
    fn the_page_is_as_the_catalogue() {
        let page = include_str!("../../../docs/villains.md");
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let expected = Kind::all().iter().map(|kind| {
            let foul = kind.foul().map_or("no foul", FoulKind::words);
            let finding = kind.finding();
            let finding = finding.map_or("-".to_owned(), |finding| format!("`{finding}`"));
            format!(
                "| `{}` | {} | {foul} | {finding} |",
                kind.name(),
                kind.does()
            )
        });
        let expected: Vec<String> = expected.collect();
        let rows: Vec<_> = rows.collect();
        assert_eq!(
            rows,
            expected,
            "the table of docs/villains.md should be:\n{}",
            expected.join("\n")
        );
    }
}
