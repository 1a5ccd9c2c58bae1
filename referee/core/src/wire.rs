//! How a game speaks: its observations as bytes, bytes as its answers. Core
//! knows only that there are bytes; a game's `wire.rs` knows which.

use crate::{Game, Observation, Seat};

/// A game that can be played over a wire. Each function appends the fields of
/// the game's own (from 10 on) to a message whose envelope is there already.
pub trait Wire: Game {
    /// The path of the call by which a bot is asked to play, for example
    /// `/games.connect_four.v1.ConnectFourBot/Play`.
    const PATH: &'static str;

    /// What the game publishes about its set-up; goes with the first question.
    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>);

    /// Tells a seat something.
    fn write_notice(sight: &Observation<'_, Self>, notice: Self::Notice, out: &mut Vec<u8>);

    /// Asks a seat something.
    fn write_question(sight: &Observation<'_, Self>, question: Self::Question, out: &mut Vec<u8>);

    /// Reads an answer to this question.
    ///
    /// # Errors
    ///
    /// [`Malformed`] where it can't be read or does not fit the question.
    fn read_answer(question: Self::Question, bytes: &[u8]) -> Result<Self::Answer, Malformed>;

    /// Writes an answer as a bot would.
    fn write_answer(answer: &Self::Answer, out: &mut Vec<u8>);

    /// An answer in the game's notation.
    fn notation(answer: &Self::Answer) -> String;
}

/// Answers as they are offered: notation and message.
pub(crate) fn offered<G: Wire>(answers: &[G::Answer]) -> Vec<(String, Vec<u8>)> {
    answers
        .iter()
        .map(|answer| (G::notation(answer), written::<G>(answer)))
        .collect()
}

/// An answer as a message without its envelope.
pub(crate) fn written<G: Wire>(answer: &G::Answer) -> Vec<u8> {
    let mut bytes = Vec::new();
    G::write_answer(answer, &mut bytes);
    bytes
}

/// A game whose calls can be folded into what a seat knows. Bots, terminal,
/// page and replay all see through this.
pub trait Sight: Wire {
    /// What a seat knows.
    type View: Clone + Send;

    /// The fold's beginning, from the first call.
    ///
    /// # Errors
    ///
    /// [`Malformed`] where the bytes are not such a call.
    fn begin(seat: Seat, start: &[u8]) -> Result<Self::View, Malformed>;

    /// One more call; says what it asks, where it asks something of the game's
    /// own.
    ///
    /// # Errors
    ///
    /// [`Malformed`] where the bytes are not a call of this game.
    fn hear(view: &mut Self::View, call: &[u8]) -> Result<Option<Self::Question>, Malformed>;

    /// The seat has given this answer to the question that it heard last, and
    /// it was accepted.
    fn answered(view: &mut Self::View, question: Self::Question, answer: &Self::Answer);

    /// What is known now. After each call that a seat is sent, this equals its
    /// observation at that moment; but after the first of several forfeits at
    /// once, only when all of them have been told.
    fn known(view: &Self::View) -> (Self::Public, Self::Private);
}

/// Bytes that are not what they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);
