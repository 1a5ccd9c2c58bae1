//! The catalogue.

/// What a villain does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// No foul: plays by the rules, at random, the same for the same bot_seed.
    Honest,
    /// No foul: takes `--delay` for every answer, Ready among them.
    Slow,
    /// No foul: takes `--delay` before it listens.
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
    /// Start: says that it listens at what is no address.
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
    /// Answers never, and keeps its only thread busy meanwhile.
    BusyLate,

    /// Remembers: gives up when this process has met the round before.
    KnowsRounds,
    /// Remembers: gives up when this process has been dealt the hand before.
    KnowsHands,
    /// Looks into `--folder` whenever it is asked, and gives up when there is a
    /// record of its own round.
    Snoops,
}
