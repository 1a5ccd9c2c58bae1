//! The way in which a bot would go on from a position.

use referee_core::{Record, Seat};
use referee_games::game;

use crate::{
    error::ReviewError,
    playouts::{InProcessBot, Playouts},
    plies::plies,
};

/// The next moves after so many moves of a game that is over, at most so many, where a bot plays on in
/// every seat: each seat knows what it knew, and what it is dealt is what the record has. None where
/// the game was over by then.
///
/// # Errors
///
/// [`ReviewError::Mismatch`] where the record does not replay, [`ReviewError::Bot`] where the bot
/// fails.
pub fn line(
    record: &Record,
    after: usize,
    bot: &dyn InProcessBot,
    most: usize,
) -> Result<Vec<(Seat, String)>, ReviewError> {
    let plies = plies(record)?;
    let kind = game(&record.header.game).expect("it has just been replayed");
    match plies.get(after) {
        Some(ply) => Playouts { bot, kind }.line(&ply.position(), most),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, sync::Arc};

    use bytes::Bytes;
    use referee_games::{Retraced, SeatReply, retrace};

    use super::*;
    use crate::{
        evaluate::tests::played,
        playouts::{BotError, InProcessSeat},
    };

    /// Answers what was answered in a game.
    #[derive(Clone, Default)]
    struct Repeating(Arc<HashMap<Bytes, Bytes>>);

    impl InProcessBot for Repeating {
        fn sit(&self, _path: &str, _start: &Bytes) -> Result<Box<dyn InProcessSeat>, BotError> {
            Ok(Box::new(self.clone()))
        }
    }

    impl InProcessSeat for Repeating {
        fn hear(&mut self, call: &Bytes) -> Result<Option<Bytes>, BotError> {
            Ok(self.0.get(call).cloned())
        }
    }

    #[test]
    fn a_bot_that_plays_what_was_played_goes_on_as_the_game_did() {
        for name in ["connect_four", "othello"] {
            let record = played(game(name).unwrap());
            let mut answers = HashMap::new();
            retrace(&record, |step| {
                if let Retraced::Judged { question, said, .. } = step
                    && let SeatReply::Answer(answer) = &said.heard
                {
                    answers.insert(question.call.clone(), answer.clone());
                }
            })
            .unwrap();
            let bot = Repeating(Arc::new(answers));
            let moves: Vec<(Seat, String)> = (record.moves())
                .map(|(seat, notation, _)| (seat, notation.to_owned()))
                .collect();
            for after in [
                0,
                1,
                moves.len() / 2,
                moves.len() - 2,
                moves.len(),
                usize::MAX,
            ] {
                let expected: Vec<_> = moves.iter().skip(after).take(6).cloned().collect();
                assert_eq!(line(&record, after, &bot, 6).unwrap(), expected, "{name}");
            }
        }
    }
}
