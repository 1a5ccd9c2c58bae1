//! What a game is: rules and nothing else.
//!
//! A game's author sorts every field of the state into public, private (one
//! value a seat) and hidden. Only this file slices an [`Observation`] out of a
//! [`State`], and only from an observation are messages made, so a secret has
//! no way to the wire.

use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};

use crate::{Dice, Outcome, PerSeat, Scene, Seat};

/// What there is to know about a game before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// Its name in files and messages, for example `connect_four`.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// How many sit at the table.
    pub seats: u8,
    /// Grows when the same seed or the same answers mean another game.
    pub rules_version: u32,
    /// How a move is written, for people: `(row, column)`.
    pub notation: &'static str,
    /// What everybody begins a series of games with, where scores are payments
    /// between the seats; 0 where they are not.
    pub purse: i32,
}

/// A way to begin that is legal and worth a look: whether a bot can deal with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// What is unusual about it, in a few words.
    pub name: &'static str,
    /// The set-up, as JSON.
    pub setup: &'static str,
}

/// The rules of a game as a pure machine. It can't wait, it can't fail for an
/// outside reason, and its only chance comes from the [`Dice`] handed to
/// [`deal`](Self::deal).
///
/// A game's type has no values worth having: it names the rules.
pub trait Game: Sized + Copy + Debug + PartialEq + Send + Sync + 'static {
    /// What there is to know about it.
    const INFO: GameInfo;

    /// What can be chosen by hand; the default leaves everything to the dice.
    type Setup: Clone + Debug + Default + PartialEq + Send + Serialize + DeserializeOwned;
    /// What everybody sees.
    type Public: Clone + Debug + PartialEq + Send;
    /// What one seat sees besides.
    type Private: Clone + Debug + PartialEq + Send;
    /// What nobody sees.
    type Hidden: Clone + Debug + Send;
    /// Which thing a seat is told. Its content is read off the seat's
    /// observation, so this says only which message it is.
    type Notice: Copy + Debug + PartialEq + Send;
    /// Which thing a seat is asked, likewise.
    type Question: Copy + Debug + PartialEq + Send;
    /// What a seat answers.
    type Answer: Clone + Debug + PartialEq + Send;

    /// Says whether a game can begin like this.
    ///
    /// # Errors
    ///
    /// [`SetupError`] says what is wrong and what would be right.
    fn validate(setup: &Self::Setup) -> Result<(), SetupError>;

    /// Reads one line of a list of openings, in the notation that is usual for
    /// the game. Where there is none, it is a set-up as JSON.
    ///
    /// # Errors
    ///
    /// [`SetupError`] says what was expected.
    fn opening(line: &str) -> Result<Self::Setup, SetupError> {
        serde_json::from_str(line)
            .map_err(|error| SetupError(format!("expected a set-up as a JSON object: {error}")))
    }

    /// A finished game in one line, in the notation that is usual for the game:
    /// how it began and the moves, as they were written down. Where nothing else
    /// is usual, the moves with semicolons between.
    fn transcript(setup: &Self::Setup, moves: &[&str]) -> String {
        let _ = setup;
        moves.join("; ")
    }

    /// The beginning of a game. Draws from the dice in a fixed order, and only
    /// here. `setup` has been validated.
    fn deal(setup: &Self::Setup, dice: &mut Dice) -> State<Self>;

    /// What comes next. After a [`Step::Tell`] it is called again; a
    /// [`Step::Ask`] stays the same until it has been resolved or a seat
    /// forfeits; [`Step::Over`] stays for ever.
    fn step(state: &mut State<Self>) -> Step<Self>;

    /// Whether a seat may answer this. What a seat does not see can't decide
    /// it, so the seat could have known.
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

    /// Carries out the answers to the last [`Step::Ask`], in order of the
    /// seats; all of them are legal, and those of seats that forfeited are
    /// missing.
    fn resolve(state: &mut State<Self>, answers: &[(Seat, Self::Answer)]);

    /// A seat leaves the game by a foul, and takes the place that is returned.
    /// May come at any time before the end, for several seats one after
    /// another. The other seats are told at once, before anything else.
    fn forfeit(state: &mut State<Self>, seat: Seat) -> u8;

    /// Whether everybody may see this answer at once, while the game goes on.
    fn is_public(question: Self::Question, answer: &Self::Answer) -> bool;

    /// What to draw of this much of the game. Before the end a caller has at
    /// most one seat's private part.
    fn scene(public: &Self::Public, private: &[(Seat, &Self::Private)]) -> Scene;

    /// Another beginning, by which `seat` would have seen the same, after the
    /// answers that were given: what it has not seen is dealt again. A game
    /// without secrets returns a copy. The proof that nothing leaks rests on
    /// this.
    fn redeal(
        beginning: &State<Self>,
        answers: &[(Seat, Self::Question, Self::Answer)],
        seat: Seat,
        dice: &mut Dice,
    ) -> State<Self>;

    /// Ways to begin that a bot should be able to deal with, the most ordinary
    /// first. Played by anybody, together they lead to every call of the game.
    fn trials() -> &'static [Trial] {
        &[]
    }

    /// The answer by which a seat changes nothing that others see, where the
    /// question has one (declining a claim).
    fn decline(_question: Self::Question) -> Option<Self::Answer> {
        None
    }
}

/// A game at one moment.
#[derive(Clone, Debug)]
pub struct State<G: Game> {
    /// What everybody sees.
    pub public: G::Public,
    /// What each seat sees besides.
    pub private: PerSeat<G::Private>,
    /// What nobody sees.
    pub hidden: G::Hidden,
}

impl<G: Game> State<G> {
    /// What `seat` sees.
    ///
    /// # Panics
    ///
    /// Where the game does not have the seat.
    #[must_use]
    pub fn observe(&self, seat: Seat) -> Observation<'_, G> {
        Observation {
            seat,
            public: &self.public,
            private: &self.private[seat],
        }
    }
}

/// What one seat sees at one moment. It can be had from
/// [`State::observe`], and from what a seat's calls have told it
/// ([`Watcher::observe`](crate::Watcher::observe)), and nowhere else.
#[derive(Debug)]
pub struct Observation<'a, G: Game> {
    seat: Seat,
    public: &'a G::Public,
    private: &'a G::Private,
}

impl<'a, G: Game> Observation<'a, G> {
    /// Only for what a seat has been told.
    pub(crate) const fn known(seat: Seat, public: &'a G::Public, private: &'a G::Private) -> Self {
        Self {
            seat,
            public,
            private,
        }
    }

    /// Who sees it.
    #[must_use]
    pub const fn seat(&self) -> Seat {
        self.seat
    }

    /// What everybody sees.
    #[must_use]
    pub const fn public(&self) -> &'a G::Public {
        self.public
    }

    /// What only this seat sees.
    #[must_use]
    pub const fn private(&self) -> &'a G::Private {
        self.private
    }
}

/// What comes next in a game.
#[derive(Clone, Debug, PartialEq)]
pub enum Step<G: Game> {
    /// Tell these seats this; nobody waits.
    Tell(Audience, G::Notice),
    /// Ask these seats this, in order of the seats, and wait for all of them.
    Ask(Vec<(Seat, G::Question)>),
    /// It is over.
    Over(Outcome),
}

/// Who is told.
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
    /// Whether a seat is among them.
    #[must_use]
    pub fn includes(self, seat: Seat) -> bool {
        match self {
            Self::Everybody => true,
            Self::Only(only) => only == seat,
            Self::AllBut(but) => but != seat,
        }
    }
}

/// Why a game can't begin like this: what is wrong, what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SetupError(pub String);

/// The rule that a move breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Illegal(pub String);
