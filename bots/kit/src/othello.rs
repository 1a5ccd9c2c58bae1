//! Othello.

use std::time::Duration;

pub use arena_proto::games::othello::v1::{Beginning, RequestMove, previous};
use arena_proto::games::othello::v1::{
    OthelloAnswer, OthelloCall, Square as Message, othello_answer::Answer,
    othello_call::Call as Kind,
};
use prost::Message as _;
use tonic::Status;

use crate::{
    Bot, GameOver, GameStart,
    session::{Call, SeatPlayer, called, read, wrong},
};

/// A bot in one game of Othello.
pub trait OthelloBot: Send + 'static {
    /// The position that the game begins with.
    fn get_beginning(&mut self, _beginning: &Beginning) {}

    /// Asks for the square of your next disc. You are asked only where there is a move.
    fn request_move(&mut self, ask: &RequestMove, limit: Duration) -> Square;

    /// The stream was opened in the middle of a game: this was asked before,
    /// and answered so.
    fn resumed_move(&mut self, _ask: &RequestMove, _square: Square) {}

    /// The game is over.
    fn game_over(&mut self, _over: &GameOver) {}
}

/// A square: its index on the board is 8 * row + column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Square {
    /// 0 (row 1, at the top) to 7.
    pub row: u32,
    /// 0 (column a, at the left) to 7.
    pub column: u32,
}

impl Bot {
    /// Plays Othello: `new` makes the value for one game.
    #[must_use]
    pub fn othello<B: OthelloBot>(
        self,
        new: impl Fn(&GameStart) -> B + Send + Sync + 'static,
    ) -> Self {
        self.plays(PATH, move |start, bytes| {
            let mut bot = new(start);
            if let Some(beginning) = read::<OthelloCall>(bytes)?.beginning {
                called("get_beginning", || bot.get_beginning(&beginning))?;
            }
            Ok(Box::new(OthelloPlayer(bot)))
        })
    }
}

const PATH: &str = "/games.othello.v1.OthelloBot/Play";

struct OthelloPlayer<B>(B);

impl<B: OthelloBot> SeatPlayer for OthelloPlayer<B> {
    fn hear(&mut self, call: Call) -> Result<Option<Vec<u8>>, Status> {
        let Some(Kind::RequestMove(ask)) = read::<OthelloCall>(&call.bytes)?.call else {
            return Ok(None);
        };
        if let Some(past) = &call.past_answer {
            if let Some(Answer::Square(Message {
                row: Some(row),
                column: Some(column),
            })) = read::<OthelloAnswer>(past)?.answer
            {
                let square = Square { row, column };
                called("resumed_move", || self.0.resumed_move(&ask, square))?;
            }
            return Ok(None);
        }
        let square = called("request_move", || self.0.request_move(&ask, call.limit))?;
        let Square { row, column } = square;
        if row > 7 || column > 7 {
            let expected = "a square with a row and a column of 0 to 7";
            return Err(wrong("request_move", square, expected));
        }
        let answer = OthelloAnswer {
            number: None,
            answer: Some(Answer::Square(Message {
                row: Some(row),
                column: Some(column),
            })),
        };
        Ok(Some(answer.encode_to_vec()))
    }

    fn over(&mut self, over: &GameOver) {
        self.0.game_over(over);
    }
}
