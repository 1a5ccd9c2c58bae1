//! Connect Four with a forbidden cell.

use std::{ops::Deref, sync::Arc, time::Duration};

use arena_proto::{
    arena::v1::Ready,
    games::connect_four::v1::{
        self as proto, ConnectFourAnswer, ConnectFourCall,
        connect_four_answer::Answer,
        connect_four_bot_server::{ConnectFourBot as Service, ConnectFourBotServer},
        connect_four_call::Call as Kind,
    },
};
use tonic::{Request, Response, Status, Streaming, server::NamedService};

use crate::{
    Bot, GameOver, GameStart,
    session::{Call, Envelope, Manner, NewPlayer, Player, Session, What},
};

/// A bot in one game of Connect Four.
pub trait ConnectFourBot: Send + 'static {
    /// Where do you play? The stone must land exactly there, on one of
    /// [`GetPoint::points`].
    fn get_point(&mut self, ask: &GetPoint) -> Point;

    /// The stream was opened in the middle of a game: this was asked before,
    /// and answered so.
    fn resumed_point(&mut self, _ask: &GetPoint, _answer: Point) {}

    /// The game is over.
    fn game_over(&mut self, _over: &GameOver) {}
}

/// What there is to know: `m`, `n`, `top`, `board`, `last_x`, `last_y`,
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
    /// Where a stone dropped into this column lands; nowhere if it is full.
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
        mut self,
        new: impl Fn(&GameStart) -> B + Send + Sync + 'static,
    ) -> Self {
        let served = Served {
            manner: self.manner.clone(),
            new: Arc::new(move |start: &GameStart| {
                let player: Box<dyn Player<ConnectFourCall>> = Box::new(Seated(new(start)));
                player
            }),
        };
        self.routes.add_service(ConnectFourBotServer::new(served));
        self.services
            .push(<ConnectFourBotServer<Served> as NamedService>::NAME);
        self
    }
}

struct Served {
    manner: Manner,
    new: Arc<NewPlayer<ConnectFourCall>>,
}

#[tonic::async_trait]
impl Service for Served {
    type PlayStream = Session<ConnectFourCall>;

    async fn play(
        &self,
        calls: Request<Streaming<ConnectFourCall>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        Ok(Response::new(Session::new(
            calls.into_inner(),
            self.manner.clone(),
            self.new.clone(),
        )))
    }
}

struct Seated<B>(B);

impl<B: ConnectFourBot> Player<ConnectFourCall> for Seated<B> {
    fn hear(
        &mut self,
        number: Option<u32>,
        limit: Duration,
        past_answer: Option<ConnectFourAnswer>,
        call: ConnectFourCall,
    ) -> Result<Option<ConnectFourAnswer>, Status> {
        let Some(Kind::GetPoint(call)) = call.call else {
            return Ok(None);
        };
        let ask = GetPoint { call, limit };
        if let Some(past) = past_answer {
            if let Some(Answer::Point(proto::Point {
                x: Some(x),
                y: Some(y),
            })) = past.answer
            {
                self.0.resumed_point(&ask, Point { x, y });
            }
            return Ok(None);
        }
        let Point { x, y } = self.0.get_point(&ask);
        Ok(Some(ConnectFourAnswer {
            number,
            answer: Some(Answer::Point(proto::Point {
                x: Some(x),
                y: Some(y),
            })),
        }))
    }

    fn over(&mut self, over: &GameOver) {
        self.0.game_over(over);
    }
}

impl Call for ConnectFourCall {
    type Answer = ConnectFourAnswer;

    fn open(mut self) -> Envelope<Self> {
        Envelope {
            number: self.number,
            limit: self
                .limit
                .take()
                .and_then(|limit| limit.try_into().ok())
                .unwrap_or_default(),
            past_answer: self.past_answer.take(),
            what: match self.call {
                Some(Kind::Start(start)) => What::Start(start),
                Some(Kind::Over(over)) => What::Over(over),
                Some(Kind::Forfeit(_)) => What::Forfeit,
                Some(Kind::GetPoint(_)) => What::Own(self),
                None => What::Unknown,
            },
        }
    }

    fn ready(number: u32, ready: Ready) -> ConnectFourAnswer {
        ConnectFourAnswer {
            number: Some(number),
            answer: Some(Answer::Ready(ready)),
        }
    }
}
