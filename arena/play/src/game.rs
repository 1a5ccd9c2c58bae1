//! A game in which people sit.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use referee::Shortage;
use referee_bots::{Entry, LaunchContext};
use referee_core::{
    AnyWatcher, Foul, GameKind, Limits, PerSeat, Record, Scene, Seat, Seed, SetupError,
    ThinkingTime, Words,
};
use referee_games::{
    Fixture, Judgement, Next, Question, SeatAction, SeatReply, Sitting, answer, past, ready,
};
use serde::{Deserialize, Serialize};

use crate::{
    EvaluationQuestion,
    error::{HintError, NotTakenBack, PeopleGameError},
    guest::Guest,
    hint::{HintQuestion, SeatQuestion},
    slip::{Slip, read_move},
};

/// The player in a seat.
#[derive(Clone, Debug)]
pub enum SeatPlayer {
    /// A person of this name.
    Person(String),
    /// A bot.
    Bot(Entry),
}

/// The game that is played, and its players.
#[derive(Clone)]
pub struct Seating {
    /// The game.
    pub kind: &'static dyn GameKind,
    /// The set-up as JSON; null is the standard one.
    pub setup: serde_json::Value,
    /// The seed of the deal.
    pub seed: Seed,
    /// Name of the record.
    pub game_id: String,
    /// Limits of bots.
    pub limits: Limits,
    /// True if people are bound by the limit for a move, too.
    pub people_are_timed: bool,
    /// The players, in order of the seats.
    pub players: Vec<SeatPlayer>,
}

/// The turn that comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeopleTurn {
    /// These people are asked; the game goes on when all of them have answered.
    People(Vec<Seat>),
    /// The game is over.
    Over,
}

/// A move that was made, or how a seat left the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    /// The seat that moved.
    pub seat: Seat,
    /// The action of the seat.
    pub action: SeatAction,
    /// True if everybody may see it while the game goes on.
    pub public: bool,
}

/// An answer that came, to be given again where a later one is taken back, or where the game goes
/// on in another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GivenAnswer {
    seat: Seat,
    number: u32,
    #[serde(with = "reply")]
    reply: SeatReply,
    counted: Duration,
    excused: Duration,
}

/// A question that is open, and what came back.
struct Open {
    question: Question,
    heard: Option<(SeatReply, ThinkingTime)>,
}

/// A person in a seat.
struct Person {
    /// Knowledge of the seat.
    watch: Option<Box<dyn AnyWatcher>>,
    /// The calls that it was sent, with its answers.
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
    people_are_timed: bool,
    sitting: Sitting,
    chairs: PerSeat<Chair>,
    /// The answers, round by round: the questions of a round are asked at once.
    rounds: Vec<Vec<GivenAnswer>>,
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
    /// [`PeopleGameError`].
    pub async fn begin(seating: Seating, context: &LaunchContext) -> Result<Self, PeopleGameError> {
        let mut game = Self::invite(seating, context).await?;
        game.open_streams();
        Ok(game)
    }

    /// Starts the bots and goes on with a game that was played elsewhere, as its
    /// [answers](Self::answers) say. The seating is the one that it began with.
    ///
    /// # Errors
    ///
    /// [`PeopleGameError`]; [`PeopleGameError::CantResume`] where a bot can't go on in the middle
    /// of a game.
    pub async fn resume(
        seating: Seating,
        answers: Vec<Vec<GivenAnswer>>,
        context: &LaunchContext,
    ) -> Result<Self, PeopleGameError> {
        let mut game = Self::invite(seating, context).await?;
        let has_moves = (answers.iter().flatten()).any(|given| given.number > 0);
        let replayed = game.give_again(answers);
        let stuck = game.bot_that_cant_resume().filter(|_| has_moves);
        let failed = match (replayed, stuck) {
            (false, _) => Some(PeopleGameError::Damaged),
            (true, Some(name)) => Some(PeopleGameError::CantResume(name)),
            (true, None) => None,
        };
        if let Some(error) = failed {
            game.end().await;
            return Err(error);
        }
        game.open_streams();
        Ok(game)
    }

    /// Starts the bots and deals. No bot has been asked.
    async fn invite(seating: Seating, context: &LaunchContext) -> Result<Self, PeopleGameError> {
        let Seating {
            kind,
            setup,
            seed,
            game_id,
            limits,
            people_are_timed,
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
                SeatPlayer::Person(name) => name.clone(),
                SeatPlayer::Bot(entry) => entry.name.clone(),
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
                SeatPlayer::Person(_) => Chair::Person(Person {
                    watch: None,
                    past: Vec::new(),
                }),
                SeatPlayer::Bot(entry) => {
                    let guest = Guest::invite(entry, context, &limits).await?;
                    Chair::Bot(Box::new(guest))
                }
            });
        }
        Ok(Self {
            fixture,
            people_are_timed,
            sitting,
            chairs: chairs.into(),
            rounds: Vec::new(),
            open: Vec::new(),
            asked_at: Instant::now(),
            played: Vec::new(),
            record: None,
        })
    }

    /// Opens the streams of all bots; each is told what its seat was sent before.
    fn open_streams(&mut self) {
        let Fixture { kind, limits, .. } = &self.fixture;
        for (_, chair) in self.chairs.iter_mut() {
            if let Chair::Bot(guest) = chair {
                guest.open(*kind, limits);
            }
        }
    }

    /// The name of a bot that can't go on in the middle of a game.
    #[must_use]
    pub fn bot_that_cant_resume(&self) -> Option<String> {
        self.chairs.iter().find_map(|(_, chair)| match chair {
            Chair::Bot(guest) if !guest.can_resume => Some(guest.name.clone()),
            _ => None,
        })
    }

    /// True if somebody has moved, or has left the game.
    #[must_use]
    pub const fn is_begun(&self) -> bool {
        !self.played.is_empty()
    }

    /// The answers so far, round by round: enough to go on with the game elsewhere.
    #[must_use]
    pub fn answers(&self) -> &[Vec<GivenAnswer>] {
        &self.rounds
    }

    /// Plays on until people are asked or the game is over.
    ///
    /// # Errors
    ///
    /// As for [`step`](Self::step).
    pub async fn play_on(&mut self) -> Result<PeopleTurn, PeopleGameError> {
        loop {
            if let Some(turn) = self.step().await? {
                return Ok(turn);
            }
        }
    }

    /// Plays on for one round of questions: none where nobody but bots was asked, and there is more
    /// to play.
    ///
    /// # Errors
    ///
    /// This machine lacks what it takes to know why a bot is silent. That is no foul of the bot:
    /// the game can go on, here or in another process.
    pub async fn step(&mut self) -> Result<Option<PeopleTurn>, PeopleGameError> {
        if self.record.is_some() {
            return Ok(Some(PeopleTurn::Over));
        }
        if !self.open.is_empty() {
            self.ask_bots().await?;
            let people = self.waiting_for();
            if !people.is_empty() {
                return Ok(Some(PeopleTurn::People(people)));
            }
            self.close_round();
        }
        self.next();
        Ok(self.record.is_some().then_some(PeopleTurn::Over))
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
    async fn ask_bots(&mut self) -> Result<(), Shortage> {
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
        let mut lack = None;
        for (at, heard) in join_all(asking).await {
            match heard {
                Ok(heard) => open[at].heard = Some(heard),
                Err(shortage) => lack = Some(shortage),
            }
        }
        lack.map_or(Ok(()), Err)
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
            round.push(GivenAnswer {
                seat,
                number,
                reply: reply.clone(),
                counted: thought.counted,
                excused: thought.excused,
            });
            let chair = &mut self.chairs[seat];
            let judgement = self.sitting.hear(seat, reply.clone(), thought);
            match (&judgement, &mut *chair) {
                (Judgement::Ready(said), Chair::Bot(guest)) => guest.can_resume = said.can_resume,
                (Judgement::Fouled(_), Chair::Bot(guest)) => guest.leave(),
                _ => {}
            }
            if let SeatReply::Answer(bytes) = &reply
                && !matches!(judgement, Judgement::Fouled(_))
            {
                let call = past(&call, bytes);
                match chair {
                    Chair::Bot(guest) => guest.answered(call),
                    Chair::Person(person) => person.answered(number, call, bytes),
                }
            }
            let action = SeatAction::of(&judgement, &reply);
            self.played.extend(action.map(|action| PlayedMove {
                seat,
                action,
                public: !matches!(judgement, Judgement::Accepted { public: false, .. }),
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

    /// Everything that a person was sent, in order: notices, questions with their answers, and last
    /// the question that is open, where they are asked. Nothing of a bot.
    #[must_use]
    pub fn calls(&self, seat: Seat) -> Vec<Bytes> {
        let Chair::Person(person) = &self.chairs[seat] else {
            return Vec::new();
        };
        let open = self.is_asked(seat).then(|| &self.question(seat).call);
        person.past.iter().chain(open).cloned().collect()
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

    /// When the time of the people who are asked is up, where they have a limit.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let is_asked = self.people_are_timed && !self.waiting_for().is_empty();
        is_asked.then(|| self.asked_at + self.fixture.limits.per_move)
    }

    /// Nobody waits any longer for the people who are asked and have a limit.
    pub fn time_is_up(&mut self) {
        if self.deadline().is_some_and(|at| Instant::now() >= at) {
            for seat in self.waiting_for() {
                self.hear(seat, SeatReply::Nothing);
            }
        }
    }

    /// Takes a person's answer. Without a limit their time is in the record and counts for nothing.
    fn hear(&mut self, seat: Seat, reply: SeatReply) {
        let elapsed = self.asked_at.elapsed();
        let (counted, excused) = match self.people_are_timed {
            true => (elapsed, Duration::ZERO),
            false => (Duration::ZERO, elapsed),
        };
        let thought = ThinkingTime { counted, excused };
        let mut open = self.open.iter_mut();
        if let Some(open) = open.find(|open| open.question.seat == seat) {
            open.heard = Some((reply, thought));
        }
    }

    /// Checks that a person may take back their last move, and all that came after it: the round of
    /// that move.
    ///
    /// # Errors
    ///
    /// [`NotTakenBack`] says why not.
    pub fn check_take_back(&self, seat: Seat) -> Result<usize, NotTakenBack> {
        let is_move = |given: &GivenAnswer| given.seat == seat && given.number > 0;
        let mut rounds = self.rounds.iter();
        let last = rounds.rposition(|round| round.iter().any(is_move));
        let last = last.ok_or(NotTakenBack::NoMove)?;
        if self.fixture.kind.has_secrets() && self.people().count() > 1 {
            return Err(NotTakenBack::Secrets);
        }
        match self.bot_that_cant_resume() {
            Some(name) => Err(NotTakenBack::CantResume(name)),
            None => Ok(last),
        }
    }

    /// Takes back the last move of a person, and all that came after it. The game is dealt as
    /// before; bots are resumed with the answers that stand. Whether others agree is for the caller
    /// to ask.
    ///
    /// # Errors
    ///
    /// As [`check_take_back`](Self::check_take_back): nothing has happened.
    pub async fn take_back(&mut self, seat: Seat) -> Result<(), NotTakenBack> {
        let last = self.check_take_back(seat)?;
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
        let rounds = std::mem::take(&mut self.rounds);
        let is_same = self.give_again(rounds);
        debug_assert!(is_same, "the game asks the same again");
        self.open_streams();
        Ok(())
    }

    /// Gives these answers, from the beginning of a game on. False where the game asks something
    /// else than they answer: they are of another game.
    fn give_again(&mut self, rounds: Vec<Vec<GivenAnswer>>) -> bool {
        for round in rounds {
            while self.open.is_empty() && self.record.is_none() {
                self.next();
            }
            let asked = self.open.iter().map(|open| &open.question);
            let asked = asked.map(|question| (question.seat, question.number));
            if !asked.eq(round.iter().map(|given| (given.seat, given.number))) {
                return false;
            }
            for (open, given) in self.open.iter_mut().zip(round) {
                let thought = ThinkingTime {
                    counted: given.counted,
                    excused: given.excused,
                };
                open.heard = Some((given.reply, thought));
            }
            self.close_round();
        }
        true
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
        let call = &self.question(seat).call;
        Ok(HintQuestion {
            sitting: self.sitting.fork(),
            seat,
            question: SeatQuestion::new(self.fixture.kind, seat, &person.past, call),
        })
    }

    /// The question of a person who is asked how the game stands. What comes of it depends on
    /// nothing that they do not know.
    ///
    /// # Errors
    ///
    /// [`HintError::NotAsked`].
    pub fn evaluation(&self, seat: Seat) -> Result<EvaluationQuestion, HintError> {
        match self.is_asked(seat) && matches!(self.chairs[seat], Chair::Person(_)) {
            true => Ok(EvaluationQuestion {
                imagination: self.sitting.imagination(seat),
                question: self.hint(seat)?.question,
            }),
            false => Err(HintError::NotAsked),
        }
    }

    /// The scene to draw: of what a person knows, or of everything where the game is over.
    #[must_use]
    pub fn scene(&self, seat: Seat) -> Scene {
        match &self.chairs[seat] {
            _ if self.record.is_some() => self.sitting.scene(),
            Chair::Person(Person {
                watch: Some(watch), ..
            }) => watch.scene(),
            // Nothing is known before the first call, and a bot's sight is its own.
            _ => Scene::default(),
        }
    }

    /// The moves so far, as one seat may know them.
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

    /// Reason why it ended, where the game is over.
    #[must_use]
    pub fn ending(&self) -> Option<&Words> {
        self.sitting.ending()
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

/// Form in which a reply is written where a game is kept.
mod reply {
    use bytes::Bytes;
    use referee_core::Foul;
    use referee_games::SeatReply;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Written {
        Answer(Vec<u8>),
        Nothing,
        Foul(Foul),
    }

    pub(super) fn serialize<S: Serializer>(reply: &SeatReply, to: S) -> Result<S::Ok, S::Error> {
        let written = match reply {
            SeatReply::Answer(bytes) => Written::Answer(bytes.to_vec()),
            SeatReply::Nothing => Written::Nothing,
            SeatReply::Foul(foul) => Written::Foul(foul.clone()),
        };
        written.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SeatReply, D::Error> {
        Ok(match Written::deserialize(from)? {
            Written::Answer(bytes) => SeatReply::Answer(Bytes::from(bytes)),
            Written::Nothing => SeatReply::Nothing,
            Written::Foul(foul) => SeatReply::Foul(foul),
        })
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
