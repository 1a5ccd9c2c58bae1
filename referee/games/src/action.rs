//! The action of a seat that was asked: it played a move, or left the game.

use referee_core::{FoulKind, FoulWords, Language};

use crate::{Judgement, SeatReply};

/// The action of a seat that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatAction {
    /// It played this move, in the notation of the game.
    Move(String),
    /// It left the game by a foul.
    Left {
        /// The kind of the foul.
        kind: FoulKind,
        /// The description of the foul, in English.
        description: String,
    },
}

impl SeatAction {
    /// The action that a reply was judged to be; none for the answer to `GameStart`.
    #[must_use]
    pub fn of(judgement: &Judgement, reply: &SeatReply) -> Option<Self> {
        match judgement {
            Judgement::Ready(_) => None,
            Judgement::Accepted { notation, .. } => Some(Self::Move(notation.clone())),
            Judgement::Fouled(kind) => Some(Self::Left {
                kind: *kind,
                description: match reply {
                    SeatReply::Foul(foul) => FoulWords::of(foul).sentence,
                    _ => kind.words().to_owned(),
                },
            }),
        }
    }

    /// True if the seat left the game.
    #[must_use]
    pub const fn is_foul(&self) -> bool {
        matches!(self, Self::Left { .. })
    }

    /// The move, or why the seat left. A foul has its description in English alone; in Chinese it
    /// has its name.
    #[must_use]
    pub fn in_words(&self, language: Language) -> &str {
        match (self, language) {
            (Self::Move(notation), _) => notation,
            (Self::Left { description, .. }, Language::En) => description,
            (Self::Left { kind, .. }, Language::Zh) => kind.words_in(language),
        }
    }
}
