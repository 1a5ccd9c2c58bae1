//! The contract of a game: its rules and nothing else.
//!
//! A game's author puts every field of the state into one of three parts: public,
//! private (one value for each seat) or hidden. Only this file makes an [`Observation`]
//! from a [`State`], and messages are made from observations alone, so a secret can't
//! get into a message.

use std::{fmt::Debug, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    Dice, FormatWriter, JsonBounds, Language, Limits, Outcome, PerSeat, Scene, Seat, Words, named,
    shorten,
};

/// Facts about a game that do not depend on the set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// Its name in files and messages, for example `connect_four`.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Number of seats.
    pub seats: u8,
    /// Increases when the same seed or the same answers give another game.
    pub rules_version: u32,
    /// The notation of a move, for people: `(row, column)`.
    pub notation: Words<&'static str>,
    /// The parts of the set-up.
    pub setup: &'static [SetupPart],
    /// Set-ups in one line, as people write them: one of each form of the notation, the usual one
    /// first, some with named parts, and one as JSON at the end. Errors, help and pages show them.
    pub setup_lines: &'static [&'static str],
    /// If scores are payments between the seats: what each seat has at the beginning of
    /// a series of games. Otherwise 0.
    pub purse: i32,
    /// The least and the most that a seat's score can be, whatever the set-up. Nothing outside is
    /// believed of a game that was played elsewhere.
    pub scores: (i32, i32),
    /// The most questions of its rules that all seats together are asked in one game, whatever the
    /// set-up.
    pub most_questions: u32,
    /// The names of the seats in files of games, such as Black and White. Empty where they have
    /// none.
    pub sides: &'static [&'static str],
    /// Its rules, for people who play it, as Markdown.
    pub rules: Words<&'static str>,
    /// True if the score of a seat says by how much it is ahead of the other seat, as a difference
    /// of discs does. Otherwise it is what the seat has won by itself.
    pub score_is_lead: bool,
}

/// A part of the set-up of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupPart {
    /// Its name: in English, as in its JSON.
    pub name: Words<&'static str>,
    /// What people choose from.
    pub choices: SetupChoices,
}

/// What people choose from for a part of a set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupChoices {
    /// One of these values, as a set-up in one line has them, each with words for people.
    Of(&'static [(&'static str, Words<&'static str>)]),
    /// A cell of the board, written `ROW:COLUMN`, or one of these words.
    Cell {
        /// The most rows, and columns, that a board has.
        side: u8,
        /// The names of the parts with the number of rows and of columns.
        size: [&'static str; 2],
        /// The words, as those of [`Of`](Self::Of).
        words: &'static [(&'static str, Words<&'static str>)],
    },
    /// What is written, as a position is.
    Written,
}

impl SetupPart {
    /// A part that is written.
    #[must_use]
    pub const fn written(english: &'static str, chinese: &'static str) -> Self {
        Self {
            name: Words::of(english, chinese),
            choices: SetupChoices::Written,
        }
    }

    /// A part for which one of these values is chosen.
    #[must_use]
    pub const fn of(
        english: &'static str,
        chinese: &'static str,
        values: &'static [(&'static str, Words<&'static str>)],
    ) -> Self {
        Self {
            name: Words::of(english, chinese),
            choices: SetupChoices::Of(values),
        }
    }
}

impl GameInfo {
    /// The longest that a game with these limits takes, as long as the referee itself is in time:
    /// everybody gets ready at once, and each answer takes all of its time.
    #[must_use]
    pub fn longest(&self, limits: &Limits) -> Duration {
        let thinking = limits.per_move.saturating_mul(self.most_questions);
        let within = limits.budget.map(|budget| {
            // The answer that is one too late takes its time too.
            (budget + limits.per_move).saturating_mul(self.seats.into())
        });
        limits.start + within.map_or(thinking, |within| within.min(thinking))
    }

    /// The name of a part of the set-up; its name in JSON where it has no other.
    #[must_use]
    pub fn setup_label<'a>(&self, key: &'a str, language: Language) -> &'a str {
        let part = self.setup.iter().find(|part| part.name.english == key);
        part.map_or(key, |part| part.name.get(language))
    }

    /// True if a game can begin with moves that were made, so that any position can be played on from.
    #[must_use]
    pub fn can_begin_with_moves(&self) -> bool {
        self.setup.iter().any(|part| part.name.english == "moves")
    }

    /// The first of [`setup_lines`](Self::setup_lines) with a named part.
    #[must_use]
    pub fn named_setup(&self) -> Option<&'static str> {
        let mut lines = self.setup_lines.iter();
        let is_named = |line: &&&str| line.contains('=') && !line.starts_with('{');
        lines.find(is_named).copied()
    }

    /// The lines of [`setup_lines`](Self::setup_lines) as a message shows them: those in JSON, or
    /// those in the notation of the game.
    #[must_use]
    pub fn setup_examples(&self, as_json: bool) -> String {
        let lines = self.setup_lines.iter();
        let lines = lines.filter(|line| line.starts_with('{') == as_json);
        let lines: Vec<String> = lines.map(|line| format!("\"{line}\"")).collect();
        lines.join(" or ")
    }

    /// Its name for people in this language; in Chinese its rules begin with it.
    #[must_use]
    pub fn title_in(&self, language: Language) -> &'static str {
        if language == Language::En {
            return self.title;
        }
        let first = self.rules.chinese.lines().next().unwrap_or(self.title);
        let title = first.trim_start_matches('#').trim();
        // Its name in files and messages stands behind it.
        title.split('（').next().unwrap_or(title)
    }
}

/// A legal and unusual beginning, to test whether a bot can handle it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The unusual property of it, in a few words.
    pub name: &'static str,
    /// The set-up, as JSON.
    pub setup: &'static str,
}

/// The rules of a game as a pure state machine. It does not wait, it does not fail for
/// an outside reason, and all chance comes from the [`Dice`] that [`deal`](Self::deal)
/// gets.
///
/// The type only names the rules; its values are not used.
pub trait Game: Sized + Copy + Debug + PartialEq + Send + Sync + 'static {
    /// Facts about the game.
    const INFO: GameInfo;

    /// The formats of other programs for games of this kind. Those of every game are not among them.
    const FORMATS: &'static [FormatWriter<Self>] = &[];

    /// The set-up, which can be chosen; the default leaves everything to the dice.
    type Setup: Clone + Debug + Default + PartialEq + Send + Serialize + DeserializeOwned;
    /// Everything that everybody sees.
    type Public: Clone + Debug + PartialEq + Send;
    /// Everything that one seat sees in addition.
    type Private: Clone + Debug + PartialEq + Send;
    /// Everything that nobody sees.
    type Hidden: Clone + Debug + Send;
    /// The kinds of notices that seats are sent. The content comes from the seat's observation, so
    /// this is only the kind of message.
    type Notice: Copy + Debug + PartialEq + Send;
    /// The kinds of questions that seats are asked: only the kind of message, too.
    type Question: Copy + Debug + PartialEq + Send;
    /// The answer of a seat.
    type Answer: Clone + Debug + PartialEq + Send;
    /// The reason why a game ended, which has words for people.
    type Ending: Clone + Debug + PartialEq + Send + Into<Words>;

    /// Says whether a game can begin like this.
    ///
    /// # Errors
    ///
    /// [`SetupError`] says what is wrong and what would be right.
    fn validate(setup: &Self::Setup) -> Result<(), SetupError>;

    /// The members of the set-up that a word stands for, where the word is a part of a line by
    /// itself, as in `6x7,moves=3 3`. None if it is no such word.
    fn read_word(_word: &str) -> Option<Map<String, Value>> {
        None
    }

    /// Reads a set-up in the usual notation of the game, which is no JSON and has no named parts.
    /// The line has no blanks around it and a bounded length.
    ///
    /// # Errors
    ///
    /// [`SetupError`] says what was expected.
    fn read_notation(line: &str) -> Result<Self::Setup, SetupError> {
        Err(SetupError(format!(
            "expected a set-up as a JSON object, such as {}, found \"{}\"",
            Self::INFO.setup_examples(true),
            shorten(line, 40)
        )))
    }

    /// Reads a set-up in one line, as people write it wherever they write one: with named parts
    /// (`KEY=VALUE,KEY=VALUE`, as in its JSON), in the notation of the game, or as a JSON object.
    /// [`validate`](Self::validate) says whether a game can begin like this.
    ///
    /// # Errors
    ///
    /// [`SetupError`] says what was expected.
    fn opening(line: &str) -> Result<Self::Setup, SetupError> {
        let line = line.trim();
        let most = JsonBounds::SETUP.bytes;
        if line.len() > most {
            return Err(SetupError(format!(
                "expected at most {most} bytes, found {}",
                line.len()
            )));
        }
        if !line.starts_with('{') {
            let named = named::read::<Self>(line);
            return named.unwrap_or_else(|| Self::read_notation(line));
        }
        JsonBounds::SETUP.read(line.as_bytes()).map_err(|error| {
            SetupError(format!(
                "expected a JSON object such as {}: {error}",
                Self::INFO.setup_examples(true)
            ))
        })
    }

    /// A game in one line, in the usual notation of the game: the beginning and the moves. Where a
    /// set-up may have moves, [`opening`](Self::opening) reads it back. A game without such a
    /// notation gives the moves, separated by semicolons. `dealt` is the state before the first of
    /// the moves.
    fn transcript(setup: &Self::Setup, dealt: &Self::Public, moves: &[&str]) -> String {
        let _ = (setup, dealt);
        moves.join("; ")
    }

    /// A deal in one line, from which [`opening`](Self::opening) reads a set-up that leaves nothing
    /// to the dice. None if every game begins so that is not set up by hand. `dealt` is the state
    /// before the first step.
    fn deal_line(setup: &Self::Setup, dealt: &State<Self>) -> Option<String>;

    /// A move as people say it, where that is shorter than its notation.
    fn spoken_move(notation: &str, language: Language) -> String {
        let _ = language;
        notation.to_owned()
    }

    /// A move as one word, for files in which blanks are between moves.
    fn move_word(dealt: &Self::Public, notation: &str) -> String {
        let _ = dealt;
        notation.replace(' ', ",")
    }

    /// The beginning of a game. Only this function draws from the dice, in a fixed
    /// order. `setup` has been validated.
    fn deal(setup: &Self::Setup, dice: &mut Dice) -> State<Self>;

    /// The next step. After a [`Step::Tell`] it is called again. A [`Step::Ask`] stays
    /// the same until it is resolved or a seat forfeits. A [`Step::Over`] never
    /// changes.
    fn step(state: &mut State<Self>) -> Step<Self>;

    /// Checks that the rules allow this answer. It depends only on what the seat sees, so the seat
    /// can know it.
    ///
    /// # Errors
    ///
    /// [`Illegal`] names the rule.
    fn judge(
        sight: &Observation<'_, Self>,
        question: Self::Question,
        answer: &Self::Answer,
    ) -> Result<(), Illegal>;

    /// Every answer that [`judge`](Self::judge) accepts, in a fixed order.
    /// Never empty while the question stands.
    fn legal(sight: &Observation<'_, Self>, question: Self::Question) -> Vec<Self::Answer>;

    /// Applies the answers to the last [`Step::Ask`], in order of the seats. All of
    /// them are legal; seats that forfeited have none.
    fn resolve(state: &mut State<Self>, answers: &[(Seat, Self::Answer)]);

    /// A seat leaves the game because of a foul; returns the place that it takes. This
    /// may happen at any time before the end, also for several seats one after another.
    /// The other seats are told before any other message.
    fn forfeit(state: &mut State<Self>, seat: Seat) -> u8;

    /// True if everybody may see this answer while the game goes on.
    fn is_public(question: Self::Question, answer: &Self::Answer) -> bool;

    /// The scene to draw. `private` holds the parts that may be shown: before the end at most that
    /// of one seat.
    fn scene(public: &Self::Public, private: &[(Seat, &Self::Private)]) -> Scene;

    /// Another beginning with which `seat` would have seen the same after the given
    /// answers: everything that it has not seen is dealt again. A game without secrets
    /// returns a copy. The test that no secret leaks is built on this.
    fn redeal(
        beginning: &State<Self>,
        answers: &[(Seat, Self::Question, Self::Answer)],
        seat: Seat,
        dice: &mut Dice,
    ) -> State<Self>;

    /// Beginnings that a bot should be able to handle, the most ordinary first.
    /// Together they lead to every call of the game, whoever plays.
    fn trials() -> &'static [Trial] {
        &[]
    }

    /// The answer that changes nothing that others see, if the question has one
    /// (declining a claim).
    fn decline(_question: Self::Question) -> Option<Self::Answer> {
        None
    }
}

/// A game at one moment.
#[derive(Clone, Debug)]
pub struct State<G: Game> {
    /// Everything that everybody sees.
    pub public: G::Public,
    /// Everything that each seat sees besides.
    pub private: PerSeat<G::Private>,
    /// Everything that nobody sees.
    pub hidden: G::Hidden,
}

impl<G: Game> State<G> {
    /// Everything that `seat` sees.
    ///
    /// # Panics
    ///
    /// If the game does not have this seat.
    #[must_use]
    pub fn observe(&self, seat: Seat) -> Observation<'_, G> {
        Observation {
            seat,
            public: &self.public,
            private: &self.private[seat],
        }
    }
}

/// The knowledge of one seat at one moment. Only [`State::observe`] and
/// [`Watcher::observe`](crate::Watcher::observe), which knows the calls of one seat, make one.
#[derive(Debug)]
pub struct Observation<'a, G: Game> {
    seat: Seat,
    public: &'a G::Public,
    private: &'a G::Private,
}

impl<'a, G: Game> Observation<'a, G> {
    /// Only for the watcher, which knows what a seat was told.
    pub(crate) const fn known(seat: Seat, public: &'a G::Public, private: &'a G::Private) -> Self {
        Self {
            seat,
            public,
            private,
        }
    }

    /// The seat that sees it.
    #[must_use]
    pub const fn seat(&self) -> Seat {
        self.seat
    }

    /// Everything that everybody sees.
    #[must_use]
    pub const fn public(&self) -> &'a G::Public {
        self.public
    }

    /// Everything that only this seat sees.
    #[must_use]
    pub const fn private(&self) -> &'a G::Private {
        self.private
    }
}

/// The next step of a game.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<G: Game> {
    /// Send this notice to these seats; they do not answer.
    Tell(Audience, G::Notice),
    /// Send these questions, in order of the seats, and wait for all answers.
    Ask(Vec<(Seat, G::Question)>),
    /// It is over.
    Over(Outcome<G::Ending>),
}

/// The seats that get a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// All seats.
    Everybody,
    /// One seat.
    Only(Seat),
    /// All seats but one.
    AllBut(Seat),
}

impl Audience {
    /// True if this seat gets it.
    #[must_use]
    pub fn includes(self, seat: Seat) -> bool {
        match self {
            Self::Everybody => true,
            Self::Only(only) => only == seat,
            Self::AllBut(but) => but != seat,
        }
    }
}

/// Reason why a game can't begin like this: what is wrong and what was expected. It quotes what
/// somebody wrote, of which it shows an excerpt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", crate::excerpt(.0))]
pub struct SetupError(pub String);

/// The rule that a move breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Illegal(pub String);
