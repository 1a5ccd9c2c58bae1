//! Connect Four with a forbidden cell.

use std::{ops::Deref, time::Duration};

use arena_proto::games::connect_four::v1::{
    self as proto, ConnectFourAnswer, ConnectFourCall, connect_four_answer::Answer,
    connect_four_call::Call as Kind,
};
use prost::Message as _;
use tonic::Status;

use crate::{
    Bot, GameOver, GameStart,
    session::{Call, SeatPlayer, called, read},
};

/// A bot in one game of Connect Four.
pub trait ConnectFourBot: Send + 'static {
    /// Asks for the point that you play. The stone must land exactly there, on one of
    /// [`GetPoint::points`].
    fn get_point(&mut self, ask: &GetPoint) -> Point;

    /// The stream was opened in the middle of a game: this was asked before,
    /// and answered so.
    fn resumed_point(&mut self, _ask: &GetPoint, _answer: Point) {}

    /// The game is over.
    fn game_over(&mut self, _over: &GameOver) {}
}

/// The whole position: `m`, `n`, `top`, `board`, `last_x`, `last_y`,
/// `no_x`, `no_y`, and `limit`, the time that the answer may take.
#[derive(Clone, Debug, PartialEq)]
pub struct GetPoint {
    call: proto::GetPoint,
    /// The time that the answer may take.
    pub limit: Duration,
}

impl Deref for GetPoint {
    type Target = proto::GetPoint;

    fn deref(&self) -> &proto::GetPoint {
        &self.call
    }
}

impl GetPoint {
    /// The point at which a stone dropped into this column lands; none if it is full.
    #[must_use]
    pub fn landing(&self, column: usize) -> Option<Point> {
        let top = *self.top.get(column)?;
        (top > 0).then(|| Point {
            x: i32::from(top) - 1,
            y: column as i32,
        })
    }

    /// Every point that can be played, from the left.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        (0..self.top.len()).filter_map(|column| self.landing(column))
    }
}

/// A cell: x is the row, from 0 at the top; y is the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The row.
    pub x: i32,
    /// The column.
    pub y: i32,
}

impl Bot {
    /// Plays Connect Four: `new` makes the value for one game.
    #[must_use]
    pub fn connect_four<B: ConnectFourBot>(
        self,
        new: impl Fn(&GameStart) -> B + Send + Sync + 'static,
    ) -> Self {
        self.plays(PATH, move |start, _| {
            Ok(Box::new(ConnectFourPlayer(new(start))))
        })
    }
}

const PATH: &str = "/games.connect_four.v1.ConnectFourBot/Play";

struct ConnectFourPlayer<B>(B);

impl<B: ConnectFourBot> SeatPlayer for ConnectFourPlayer<B> {
    fn hear(&mut self, call: Call) -> Result<Option<Vec<u8>>, Status> {
        let Some(Kind::GetPoint(ask)) = read::<ConnectFourCall>(&call.bytes)?.call else {
            return Ok(None);
        };
        let ask = GetPoint {
            call: ask,
            limit: call.limit,
        };
        if let Some(past) = call.past_answer {
            if let Some(Answer::Point(proto::Point {
                x: Some(x),
                y: Some(y),
            })) = read::<ConnectFourAnswer>(&past)?.answer
            {
                called("resumed_point", || {
                    self.0.resumed_point(&ask, Point { x, y });
                })?;
            }
            return Ok(None);
        }
        let Point { x, y } = called("get_point", || self.0.get_point(&ask))?;
        let answer = ConnectFourAnswer {
            number: None,
            answer: Some(Answer::Point(proto::Point {
                x: Some(x),
                y: Some(y),
            })),
        };
        Ok(Some(answer.encode_to_vec()))
    }

    fn over(&mut self, over: &GameOver) {
        self.0.game_over(over);
    }
}
