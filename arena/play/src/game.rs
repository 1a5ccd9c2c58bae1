//! A game in which people sit.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use referee_core::{
    Foul, GameKind, Limits, PerSeat, Record, Scene, Seat, Seed, SetupError, ThinkingTime, Watch,
};
use referee_games::{Fixture, Judgement, Next, Question, SeatReply, Sitting, answer, past, ready};
use referee_worker::{Entry, LaunchContext};

use crate::{
    error::{HintError, NotTakenBack, PlayError},
    guest::Guest,
    hint::HintQuestion,
    slip::{Slip, read_move},
};

/// Who sits in a seat.
#[derive(Clone, Debug)]
pub enum Player {
    /// A person of this name.
    Person(String),
    /// A bot.
    Bot(Entry),
}

/// What is played, and by whom.
#[derive(Clone)]
pub struct Seating {
    /// The game.
    pub kind: &'static dyn GameKind,
    /// The set-up as JSON; null is the standard one.
    pub setup: serde_json::Value,
    /// The seed of the deal.
    pub seed: Seed,
    /// What the record is called.
    pub game_id: String,
    /// What bots are allowed. People are not bound by them.
    pub limits: Limits,
    /// Who sits where, in order of the seats.
    pub players: Vec<Player>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// These people are asked; the game goes on when all of them have answered.
    People(Vec<Seat>),
    /// The game is over.
    Over,
}

/// A move that was made, or how a seat left the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// Whose.
    pub seat: Seat,
    /// In the notation of the game, or the description of the foul.
    pub notation: String,
    /// Whether everybody may see it while the game goes on.
    pub public: bool,
    /// Whether the seat left the game with it.
    pub left: bool,
}

/// An answer that came, to be given again where a later one is taken back.
#[derive(Clone)]
struct Heard {
    seat: Seat,
    number: u32,
    reply: SeatReply,
    thought: ThinkingTime,
}

/// A question that is open, and what came back.
struct Open {
    question: Question,
    heard: Option<(SeatReply, ThinkingTime)>,
}

/// A person in a seat.
struct Person {
    /// What the seat knows.
    watch: Option<Box<dyn Watch>>,
    /// What it was sent, with its answers.
    past: Vec<Bytes>,
}

/// A seat and who is in it.
enum Chair {
    Person(Person),
    Bot(Box<Guest>),
}

/// A game that is being played.
pub struct PeopleGame {
    fixture: Fixture,
    sitting: Sitting,
    chairs: PerSeat<Chair>,
    /// What was answered, round by round: the questions of a round are asked at once.
    rounds: Vec<Vec<Heard>>,
    open: Vec<Open>,
    asked_at: Instant,
    played: Vec<PlayedMove>,
    record: Option<Box<Record>>,
}

impl PeopleGame {
    /// Starts the bots and deals. A bot that can't be started leaves the game with its first call.
    ///
    /// # Errors
    ///
    /// [`PlayError`].
    pub async fn begin(seating: Seating, context: &LaunchContext) -> Result<Self, PlayError> {
        let Seating {
            kind,
            setup,
            seed,
            game_id,
            limits,
            players,
        } = seating;
        let seats = kind.info().seats;
        if players.len() != usize::from(seats) {
            let title = kind.info().title;
            let found = players.len();
            let why = format!("{title} has {seats} seats, found {found} players");
            return Err(SetupError(why).into());
        }
        let names: Vec<String> = (players.iter())
            .map(|player| match player {
                Player::Person(name) => name.clone(),
                Player::Bot(entry) => entry.name.clone(),
            })
            .collect();
        let fixture = Fixture {
            kind,
            game_id,
            setup: kind.setup(&setup)?,
            seed,
            players: names.into(),
            limits,
            spent: PerSeat::default(),
        };
        let sitting = Sitting::new(fixture.clone())?;
        let mut chairs = Vec::new();
        for player in &players {
            chairs.push(match player {
                Player::Person(_) => Chair::Person(Person {
                    watch: None,
                    past: Vec::new(),
                }),
                Player::Bot(entry) => {
                    let mut guest = Guest::invite(entry, context, &limits).await?;
                    guest.open(kind, &limits);
                    Chair::Bot(Box::new(guest))
                }
            });
        }
        Ok(Self {
            fixture,
            sitting,
            chairs: chairs.into(),
            rounds: Vec::new(),
            open: Vec::new(),
            asked_at: Instant::now(),
            played: Vec::new(),
            record: None,
        })
    }

    /// Plays on until people are asked or the game is over.
    pub async fn play_on(&mut self) -> Turn {
        loop {
            if self.record.is_some() {
                return Turn::Over;
            }
            if !self.open.is_empty() {
                self.ask_bots().await;
                let people = self.waiting_for();
                if !people.is_empty() {
                    return Turn::People(people);
                }
                self.close_round();
            }
            self.next();
        }
    }

    /// Says which question or notice is next, and hands it on.
    fn next(&mut self) {
        match self.sitting.advance() {
            Next::Tell(calls) => self.tell(calls),
            Next::Ask(questions) => {
                for question in &questions {
                    if let Chair::Person(person) = &mut self.chairs[question.seat] {
                        person.hear(self.fixture.kind, question.seat, &question.call);
                    }
                }
                self.asked_at = Instant::now();
                let open = questions.into_iter().map(|question| Open {
                    // A person need not say that they are there.
                    heard: (question.number == 0
                        && matches!(self.chairs[question.seat], Chair::Person(_)))
                    .then(|| (SeatReply::Answer(ready()), ThinkingTime::default())),
                    question,
                });
                self.open = open.collect();
            }
            Next::Over(finished) => {
                self.tell(finished.last_calls);
                self.record = Some(Box::new(finished.record));
            }
        }
    }

    fn tell(&mut self, calls: Vec<(Seat, Bytes)>) {
        for (seat, call) in calls {
            match &mut self.chairs[seat] {
                Chair::Bot(guest) => guest.tell(call),
                Chair::Person(person) => {
                    person.hear(self.fixture.kind, seat, &call);
                    person.past.push(call);
                }
            }
        }
    }

    /// Asks all bots that have not answered, at once.
    async fn ask_bots(&mut self) {
        let start = self.fixture.limits.start;
        let open = &mut self.open;
        let asking = self.chairs.iter_mut().filter_map(|(seat, chair)| {
            let at =
                (open.iter()).position(|one| one.question.seat == seat && one.heard.is_none())?;
            let question = open[at].question.clone();
            match chair {
                Chair::Person(_) => None,
                Chair::Bot(guest) => Some(async move { (at, guest.ask(question, start).await) }),
            }
        });
        let asking: Vec<_> = asking.collect();
        for (at, heard) in join_all(asking).await {
            open[at].heard = Some(heard);
        }
    }

    /// The people who have not answered.
    fn waiting_for(&self) -> Vec<Seat> {
        let open = self.open.iter().filter(|open| open.heard.is_none());
        open.map(|open| open.question.seat).collect()
    }

    /// Every question of a round has been answered: the rules judge.
    fn close_round(&mut self) {
        let mut round = Vec::new();
        for Open { question, heard } in std::mem::take(&mut self.open) {
            let (reply, thought) = heard.expect("everybody has answered");
            let Question {
                seat, number, call, ..
            } = question;
            round.push(Heard {
                seat,
                number,
                reply: reply.clone(),
                thought,
            });
            let chair = &mut self.chairs[seat];
            let (notation, public, left) = match self.sitting.hear(seat, reply.clone(), thought) {
                Judgement::Ready(said) => {
                    if let Chair::Bot(guest) = chair {
                        guest.can_resume = said.can_resume;
                    }
                    (None, true, false)
                }
                Judgement::Accepted { notation, public } => (Some(notation), public, false),
                Judgement::Fouled(kind) => {
                    if let Chair::Bot(guest) = chair {
                        guest.leave();
                    }
                    let words = match &reply {
                        SeatReply::Foul(foul) => foul.to_string(),
                        _ => kind.words().to_owned(),
                    };
                    (Some(words), true, true)
                }
            };
            if let SeatReply::Answer(bytes) = &reply
                && !left
            {
                let call = past(&call, bytes);
                match chair {
                    Chair::Bot(guest) => guest.answered(call),
                    Chair::Person(person) => person.answered(number, call, bytes),
                }
            }
            self.played.extend(notation.map(|notation| PlayedMove {
                seat,
                notation,
                public,
                left,
            }));
        }
        self.rounds.push(round);
    }

    /// The legal moves of a person who is asked, in the notation of the game.
    #[must_use]
    pub fn legal(&self, seat: Seat) -> Vec<String> {
        match self.is_asked(seat) {
            true => (self.sitting.legal(seat).into_iter())
                .map(|(notation, _)| notation)
                .collect(),
            false => Vec::new(),
        }
    }

    fn is_asked(&self, seat: Seat) -> bool {
        self.waiting_for().contains(&seat)
    }

    /// A person moves, as people write it: see [`read_move`]. Returns the move in the notation of
    /// the game.
    ///
    /// # Errors
    ///
    /// [`Slip`]: nothing has happened.
    pub fn move_as_written(&mut self, seat: Seat, written: &str) -> Result<String, Slip> {
        let legal = match self.is_asked(seat) {
            true => self.sitting.legal(seat),
            false => Vec::new(),
        };
        let at = read_move(written, legal.iter().map(|(notation, _)| notation.as_str()))?;
        let (notation, own) = &legal[at];
        let number = self.question(seat).number;
        self.hear(seat, SeatReply::Answer(answer(number, own)));
        Ok(notation.clone())
    }

    /// A person gives up.
    pub fn resign(&mut self, seat: Seat) {
        if self.is_asked(seat) {
            self.hear(seat, SeatReply::Foul(Foul::Resigned));
        }
    }

    fn question(&self, seat: Seat) -> &Question {
        let open = self.open.iter().find(|open| open.question.seat == seat);
        &open.expect("the seat is asked").question
    }

    /// What a person answered. Their time is in the record and counts for nothing.
    fn hear(&mut self, seat: Seat, reply: SeatReply) {
        let thought = ThinkingTime {
            counted: Duration::ZERO,
            excused: self.asked_at.elapsed(),
        };
        let mut open = self.open.iter_mut();
        if let Some(open) = open.find(|open| open.question.seat == seat) {
            open.heard = Some((reply, thought));
        }
    }

    /// Takes back the last move of a person, and all that came after it. The game is dealt as
    /// before; bots are resumed with the answers that stand.
    ///
    /// # Errors
    ///
    /// [`NotTakenBack`]: nothing has happened.
    pub async fn take_back(&mut self, seat: Seat) -> Result<(), NotTakenBack> {
        let is_move = |heard: &Heard| heard.seat == seat && heard.number > 0;
        let last = self
            .rounds
            .iter()
            .rposition(|round| round.iter().any(is_move));
        let last = last.ok_or(NotTakenBack::NoMove)?;
        for (_, chair) in self.chairs.iter() {
            if let Chair::Bot(guest) = chair
                && !guest.can_resume
            {
                return Err(NotTakenBack::CantResume(guest.name.clone()));
            }
        }
        self.rounds.truncate(last);
        for (_, chair) in self.chairs.iter_mut() {
            match chair {
                Chair::Bot(guest) => guest.close().await,
                Chair::Person(person) => {
                    person.watch = None;
                    person.past.clear();
                }
            }
        }
        self.record = None;
        self.open.clear();
        self.played.clear();
        self.sitting = Sitting::new(self.fixture.clone()).expect("it was dealt before");
        for round in std::mem::take(&mut self.rounds) {
            while self.open.is_empty() {
                self.next();
            }
            for (open, heard) in self.open.iter_mut().zip(round) {
                open.heard = Some((heard.reply, heard.thought));
            }
            self.close_round();
        }
        let Fixture { kind, limits, .. } = &self.fixture;
        for (_, chair) in self.chairs.iter_mut() {
            if let Chair::Bot(guest) = chair {
                guest.open(*kind, limits);
            }
        }
        Ok(())
    }

    /// The question of a person who is asked, for a bot that gives a hint. The bot knows no more than
    /// the person.
    ///
    /// # Errors
    ///
    /// [`HintError::NotAsked`].
    pub fn hint(&self, seat: Seat) -> Result<HintQuestion, HintError> {
        let (true, Chair::Person(person)) = (self.is_asked(seat), &self.chairs[seat]) else {
            return Err(HintError::NotAsked);
        };
        Ok(HintQuestion {
            kind: self.fixture.kind,
            sitting: self.sitting.fork(),
            seat,
            past: person.past.clone(),
            call: self.question(seat).call.clone(),
        })
    }

    /// What to draw: what a person knows, or everything where the game is over.
    #[must_use]
    pub fn scene(&self, seat: Seat) -> Scene {
        match &self.chairs[seat] {
            Chair::Person(Person {
                watch: Some(watch), ..
            }) if self.record.is_none() => watch.scene(),
            _ => self.sitting.scene(),
        }
    }

    /// What was played so far, as one seat may know it.
    pub fn moves(&self, seat: Seat) -> impl Iterator<Item = &PlayedMove> {
        let is_over = self.record.is_some();
        let played = self.played.iter();
        played.filter(move |one| one.public || one.seat == seat || is_over)
    }

    /// The record, where the game is over.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        self.record.as_deref()
    }

    /// The names of the players, in order of the seats.
    #[must_use]
    pub const fn names(&self) -> &PerSeat<String> {
        &self.fixture.players
    }

    /// The seats of people.
    pub fn people(&self) -> impl Iterator<Item = Seat> {
        let chairs = self.chairs.iter();
        chairs.filter_map(|(seat, chair)| matches!(chair, Chair::Person(_)).then_some(seat))
    }

    /// The set-up in its full form.
    #[must_use]
    pub const fn setup(&self) -> &serde_json::Value {
        &self.fixture.setup
    }

    /// Stops the bots.
    pub async fn end(self) {
        for chair in self.chairs {
            if let Chair::Bot(guest) = chair {
                guest.dismiss().await;
            }
        }
    }
}

impl Person {
    /// A call that they were sent. What can't be read is our own fault, and changes nothing.
    fn hear(&mut self, kind: &'static dyn GameKind, seat: Seat, call: &Bytes) {
        match &mut self.watch {
            None => self.watch = kind.watch(seat, call).ok(),
            Some(watch) => {
                let heard = watch.hear(call);
                debug_assert!(heard.is_ok(), "{heard:?}");
            }
        }
    }

    /// An answer of theirs stood.
    fn answered(&mut self, number: u32, call: Bytes, answer: &Bytes) {
        self.past.push(call);
        if number > 0
            && let Some(watch) = &mut self.watch
        {
            let heard = watch.answered(answer);
            debug_assert!(heard.is_ok(), "{heard:?}");
        }
    }
}
