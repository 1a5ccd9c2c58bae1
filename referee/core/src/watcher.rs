//! The knowledge of a seat while a game goes on: the fold of its calls and of its own
//! answers. Bots, terminal, web page and replay use this.

use crate::{
    Malformed, Observation, Scene, Seat, Sight,
    wire::{offered, written},
};

/// The knowledge of one seat: the fold of its calls and of its own answers.
pub struct Watcher<G: Sight> {
    seat: Seat,
    view: G::View,
    asked: Option<G::Question>,
}

impl<G: Sight> Watcher<G> {
    /// Begins with the first call.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are not such a call.
    pub fn new(seat: Seat, start: &[u8]) -> Result<Self, Malformed> {
        Ok(Self {
            seat,
            view: G::begin(seat, start)?,
            asked: None,
        })
    }

    /// Takes the next call; returns its question, if it asks one.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are not a call of this game.
    pub fn hear(&mut self, call: &[u8]) -> Result<Option<G::Question>, Malformed> {
        let question = G::hear(&mut self.view, call)?;
        self.asked = question.or(self.asked);
        Ok(question)
    }

    /// The seat has answered the last question, and the answer was accepted.
    pub fn answered(&mut self, answer: &G::Answer) {
        if let Some(question) = self.asked.take() {
            G::answered(&mut self.view, question, answer);
        }
    }

    /// The seat.
    #[must_use]
    pub const fn seat(&self) -> Seat {
        self.seat
    }

    /// The knowledge of the seat, in the game's own type.
    #[must_use]
    pub const fn view(&self) -> &G::View {
        &self.view
    }

    /// The question that the seat has to answer now.
    #[must_use]
    pub const fn asked(&self) -> Option<G::Question> {
        self.asked
    }

    /// The knowledge of the seat as an observation, the form that the rules use.
    pub fn observe<T>(&self, look: impl FnOnce(&Observation<'_, G>) -> T) -> T {
        let (public, private) = G::known(&self.view);
        look(&Observation::known(self.seat, &public, &private))
    }

    /// Every answer that would be accepted now.
    #[must_use]
    pub fn legal(&self) -> Vec<G::Answer> {
        self.asked.map_or_else(Vec::new, |question| {
            self.observe(|sight| G::legal(sight, question))
        })
    }
}

/// A [`Watcher`] behind an interface without the game's types.
pub trait AnyWatcher: Send {
    /// Takes the next call; returns whether it asks a question of the game.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are not a call of this game.
    fn hear(&mut self, call: &[u8]) -> Result<bool, Malformed>;

    /// The seat has answered the last question, and the answer was accepted.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are not an answer to this question.
    fn answered(&mut self, answer: &[u8]) -> Result<(), Malformed>;

    /// Every answer that would be accepted now: notation and message.
    fn legal(&self) -> Vec<(String, Vec<u8>)>;

    /// Answers with one of the legal answers and returns it as a message. `choose` gets
    /// their number and returns an index. `None` if nothing is asked.
    fn answer(&mut self, choose: &mut dyn FnMut(usize) -> usize) -> Option<Vec<u8>>;

    /// The scene to draw of what the seat knows.
    fn scene(&self) -> Scene;
}

impl<G: Sight> AnyWatcher for Watcher<G> {
    fn hear(&mut self, call: &[u8]) -> Result<bool, Malformed> {
        Ok(self.hear(call)?.is_some())
    }

    fn answered(&mut self, answer: &[u8]) -> Result<(), Malformed> {
        if let Some(question) = self.asked {
            let answer = G::read_answer(question, answer)?;
            self.answered(&answer);
        }
        Ok(())
    }

    fn legal(&self) -> Vec<(String, Vec<u8>)> {
        offered::<G>(&self.legal())
    }

    fn answer(&mut self, choose: &mut dyn FnMut(usize) -> usize) -> Option<Vec<u8>> {
        let legal = self.legal();
        if legal.is_empty() {
            return None;
        }
        let answer = legal.get(choose(legal.len()))?;
        self.answered(answer);
        Some(written::<G>(answer))
    }

    fn scene(&self) -> Scene {
        let (public, private) = G::known(&self.view);
        G::scene(&public, &[(self.seat, &private)])
    }
}
