//! Bots that get what their seat knows in the rules' own form, instead of callbacks.

use std::time::Duration;

use referee_core::{AnyWatcher, GameKind, Malformed, Seat, Sight, Watcher};
use tonic::Status;

use crate::{
    Bot, GameOver, GameStart,
    session::{Call, SeatPlayer, called},
};

/// A bot in one game of `G`.
pub trait Thinker<G: Sight>: Send + 'static {
    /// Answers the question. The answer must be one of [`Turn::legal`].
    fn answer(&mut self, turn: &Turn<'_, G>) -> G::Answer;

    /// The expected result of the seat after each of [`Turn::legal`], in that order, as a share of
    /// the points: 1 is the first place alone. None where the bot has no such estimate. The referee
    /// never asks for it; an analysis of a game in this process does.
    fn values(&mut self, _turn: &Turn<'_, G>) -> Option<Vec<f64>> {
        None
    }

    /// The expected result of each seat as far as this seat knows, in the order of seats, as shares
    /// of the points, when this seat is asked. None where the bot has no such estimate. In a game
    /// of two [`values`](Self::values) is enough: what one can't expect the other can.
    fn shares(&mut self, _turn: &Turn<'_, G>) -> Option<Vec<f64>> {
        None
    }

    /// The seat's knowledge after a notice. A resumed game repeats all of its notices.
    fn told(&mut self, _view: &G::View) {}

    /// The game is over.
    fn game_over(&mut self, _over: &GameOver) {}
}

/// A question and all that the seat knows.
pub struct Turn<'a, G: Sight> {
    /// The question.
    pub question: G::Question,
    /// The time that the answer may take.
    pub limit: Duration,
    watcher: &'a Watcher<G>,
}

impl<G: Sight> Turn<'_, G> {
    /// The seat that is asked.
    #[must_use]
    pub const fn seat(&self) -> Seat {
        self.watcher.seat()
    }

    /// The knowledge of the seat, in the game's own form.
    #[must_use]
    pub const fn view(&self) -> &G::View {
        self.watcher.view()
    }

    /// The same as what everybody sees and what only this seat sees.
    #[must_use]
    pub fn known(&self) -> (G::Public, G::Private) {
        G::known(self.watcher.view())
    }

    /// Every answer that would be accepted, in a fixed order.
    #[must_use]
    pub fn legal(&self) -> Vec<G::Answer> {
        self.watcher.legal()
    }
}

/// A bot in one game of any kind, which knows only how many answers are legal.
pub trait Chooser: Send + 'static {
    /// Chooses one of so many answers, by its index from 0.
    fn choose(&mut self, answers: usize) -> usize;
}

impl Bot {
    /// Plays `G`: `new` makes the value for one game.
    #[must_use]
    pub fn thinks<G: Sight, T: Thinker<G>>(
        self,
        new: impl Fn(&GameStart) -> T + Send + Sync + 'static,
    ) -> Self {
        self.plays(G::PATH, move |start, bytes| {
            Ok(Box::new(ThinkerPlayer {
                watcher: Watcher::<G>::new(seat(start), bytes).map_err(unreadable)?,
                thinker: new(start),
            }))
        })
    }

    /// Plays a game of this kind: `new` makes the value for one game.
    #[must_use]
    pub fn chooses<C: Chooser>(
        mut self,
        kind: &'static dyn GameKind,
        new: impl Fn(&GameStart) -> C + Send + Sync + 'static,
    ) -> Self {
        self.descriptors.push(kind.descriptors());
        self.plays(kind.path(), move |start, bytes| {
            Ok(Box::new(ChooserPlayer {
                watch: kind.watch(seat(start), bytes).map_err(unreadable)?,
                chooser: new(start),
            }))
        })
    }
}

struct ThinkerPlayer<G: Sight, T> {
    watcher: Watcher<G>,
    thinker: T,
}

impl<G: Sight, T: Thinker<G>> SeatPlayer for ThinkerPlayer<G, T> {
    fn hear(&mut self, call: Call) -> Result<Option<Vec<u8>>, Status> {
        let Some(question) = self.watcher.hear(&call.bytes).map_err(unreadable)? else {
            self.thinker.told(self.watcher.view());
            return Ok(None);
        };
        if let Some(past) = call.past_answer {
            let past = G::read_answer(question, &past).map_err(unreadable)?;
            self.watcher.answered(&past);
            return Ok(None);
        }
        let turn = Turn {
            question,
            limit: call.limit,
            watcher: &self.watcher,
        };
        let answer = called("answer", || self.thinker.answer(&turn))?;
        self.watcher.answered(&answer);
        let mut bytes = Vec::new();
        G::write_answer(&answer, &mut bytes);
        Ok(Some(bytes))
    }

    fn values(&mut self, call: Call) -> Result<Option<Vec<f64>>, Status> {
        self.estimate(&call, |thinker, turn| {
            called("values", || thinker.values(turn))
        })
    }

    fn shares(&mut self, call: Call) -> Result<Option<Vec<f64>>, Status> {
        self.estimate(&call, |thinker, turn| {
            called("shares", || thinker.shares(turn))
        })
    }

    fn over(&mut self, over: &GameOver) {
        self.thinker.game_over(over);
    }
}

impl<G: Sight, T> ThinkerPlayer<G, T> {
    /// Lets the bot look at a question, which stays unanswered.
    fn estimate(
        &mut self,
        call: &Call,
        look: impl FnOnce(&mut T, &Turn<'_, G>) -> Result<Option<Vec<f64>>, Status>,
    ) -> Result<Option<Vec<f64>>, Status> {
        let Some(question) = self.watcher.hear(&call.bytes).map_err(unreadable)? else {
            return Ok(None);
        };
        let turn = Turn {
            question,
            limit: call.limit,
            watcher: &self.watcher,
        };
        look(&mut self.thinker, &turn)
    }
}

struct ChooserPlayer<C> {
    watch: Box<dyn AnyWatcher>,
    chooser: C,
}

impl<C: Chooser> SeatPlayer for ChooserPlayer<C> {
    fn hear(&mut self, call: Call) -> Result<Option<Vec<u8>>, Status> {
        if !self.watch.hear(&call.bytes).map_err(unreadable)? {
            return Ok(None);
        }
        if let Some(past) = call.past_answer {
            self.watch.answered(&past).map_err(unreadable)?;
            return Ok(None);
        }
        let Self { watch, chooser } = self;
        watch
            .answer(&mut |answers| chooser.choose(answers))
            .map(Some)
            .ok_or_else(|| Status::internal("a question without a legal answer"))
    }

    fn over(&mut self, _: &GameOver) {}
}

fn seat(start: &GameStart) -> Seat {
    Seat::new(u8::try_from(start.seat).unwrap_or(u8::MAX))
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of map_err")]
fn unreadable(error: Malformed) -> Status {
    Status::invalid_argument(error.to_string())
}
