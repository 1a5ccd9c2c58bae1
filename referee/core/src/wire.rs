//! Writing and reading of a game's messages: observations become bytes, bytes become
//! answers. Core does not know the encoding; a game's `wire.rs` does.

use crate::{Game, Observation, Seat};

/// A game that can be played over a wire. Each function appends the game's own fields
/// (from 10 on) to a message that already has its envelope.
pub trait Wire: Game {
    /// The path of the call by which a bot is asked to play, for example
    /// `/games.connect_four.v1.ConnectFourBot/Play`.
    const PATH: &'static str;

    /// The .proto file of its messages with all that it imports, as an encoded
    /// `google.protobuf.FileDescriptorSet`.
    const DESCRIPTORS: &'static [u8];

    /// Writes the public part of the set-up, which is part of the first question.
    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>);

    /// Writes a notice.
    fn write_notice(sight: &Observation<'_, Self>, notice: Self::Notice, out: &mut Vec<u8>);

    /// Writes a question.
    fn write_question(sight: &Observation<'_, Self>, question: Self::Question, out: &mut Vec<u8>);

    /// Reads an answer to this question.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if it can't be read or does not fit the question.
    fn read_answer(question: Self::Question, bytes: &[u8]) -> Result<Self::Answer, Malformed>;

    /// Writes an answer as a bot would.
    fn write_answer(answer: &Self::Answer, out: &mut Vec<u8>);

    /// An answer in the game's notation.
    fn notation(answer: &Self::Answer) -> String;
}

/// The notation and the message of each answer.
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

/// A game whose calls can be folded into what a seat knows. Bots, terminal, web page
/// and replay use this.
pub trait Sight: Wire {
    /// The knowledge of a seat.
    type View: Clone + Send;

    /// Begins the fold with the first call.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are not such a call.
    fn begin(seat: Seat, start: &[u8]) -> Result<Self::View, Malformed>;

    /// Takes the next call; returns its question, if it asks a question of the game.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are not a call of this game.
    fn hear(view: &mut Self::View, call: &[u8]) -> Result<Option<Self::Question>, Malformed>;

    /// The seat has given this answer to its last question, and the answer was
    /// accepted.
    fn answered(view: &mut Self::View, question: Self::Question, answer: &Self::Answer);

    /// The observation that the seat has now. After each call this equals the seat's
    /// observation at that moment; after several forfeits at once, when all of them
    /// have been told.
    fn known(view: &Self::View) -> (Self::Public, Self::Private);
}

/// Bytes that are not a valid message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);
