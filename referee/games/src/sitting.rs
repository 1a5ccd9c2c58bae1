//! One game as the referee conducts it, except for waiting: the service exchanges its
//! messages with bots over streams, a replay takes the answers from a record.

use std::time::Duration;

use arena_proto::arena::v1::Ready;
use bytes::Bytes;
use referee_core::{
    AnswerRefusal, Charge, Clock, Event, FORMAT, FORMAT_VERSION, Foul, FoulKind, GameKind, Header,
    Limits, Outcome, PerSeat, Record, ResultLine, Scene, Seat, SeatFoul, SeatHeader, Seed,
    SetupError, Table, TableStep, ThinkingTime, Transcript, Verdict, Words,
};

use crate::{envelope, imagination::Imagination};

/// Increases when the referee behaves differently with the same messages.
pub const BEHAVIOR_VERSION: u32 = 1;

/// The game to be played, and its players.
#[derive(Clone)]
pub struct Fixture {
    /// The game.
    pub kind: &'static dyn GameKind,
    /// Identifies this game within its run; it does not depend on the deal.
    pub game_id: String,
    /// The set-up as JSON; null is the standard set-up.
    pub setup: serde_json::Value,
    /// The seed of the game.
    pub seed: Seed,
    /// The name of the player in each seat.
    pub players: PerSeat<String>,
    /// The limits.
    pub limits: Limits,
    /// The part of its budget that each seat has used in earlier games; empty if there were none.
    pub spent: PerSeat<Duration>,
}

/// One game in progress: it says what to send next and judges what comes back.
pub struct Sitting {
    fixture: Fixture,
    table: Box<dyn Table>,
    seats: PerSeat<SeatProgress>,
    fouls: Vec<SeatFoul>,
    transcript: Transcript,
    stage: SittingStage,
    /// The seats that were asked, in order, each with whether its answer was accepted;
    /// `None` until it answers.
    waiting: Vec<(Seat, Option<bool>)>,
    /// Forfeits that the other seats have not been told yet.
    untold: Vec<LeftSeat>,
}

#[derive(Clone)]
struct SeatProgress {
    clock: Clock,
    next_number: u32,
    gone: bool,
}

/// A seat that has left because of a foul.
#[derive(Clone)]
struct LeftSeat {
    seat: Seat,
    foul: FoulKind,
    place: u8,
}

#[derive(Clone)]
enum SittingStage {
    Starting,
    Playing,
    /// The next step is known, but a forfeit must be told first.
    Stepped(TableStep),
}

/// The next thing to do.
#[derive(Debug)]
pub enum Next {
    /// Send these notices; they are not answered.
    Tell(Vec<(Seat, Bytes)>),
    /// Send these questions, and pass each answer to [`Sitting::hear`] before the next
    /// call of [`Sitting::advance`].
    Ask(Vec<Question>),
    /// The game is over.
    Over(Box<Finished>),
}

/// A question on its way to a seat.
#[derive(Clone, Debug)]
pub struct Question {
    /// The seat that is asked.
    pub seat: Seat,
    /// The question's number in the seat's stream.
    pub number: u32,
    /// The time limit.
    pub limit: Duration,
    /// The whole message.
    pub call: Bytes,
}

/// A game that is over.
#[derive(Debug)]
pub struct Finished {
    /// The last call of each seat: `GameOver`.
    pub last_calls: Vec<(Seat, Bytes)>,
    /// The record of the game.
    pub record: Record,
}

/// The reply to a question.
#[derive(Clone, Debug)]
pub enum SeatReply {
    /// A message.
    Answer(Bytes),
    /// No answer within the time that was waited.
    Nothing,
    /// Something went wrong outside the messages.
    Foul(Foul),
}

/// The judgement of the referee on a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// The seat is ready to play.
    Ready(Ready),
    /// The move stands.
    Accepted {
        /// The move in the notation of the game.
        notation: String,
        /// True if everybody may see it while the game goes on.
        public: bool,
    },
    /// It was a foul: the seat is out of the game and is sent nothing more.
    Fouled(FoulKind),
}

impl Sitting {
    /// Takes the players and deals.
    ///
    /// # Errors
    ///
    /// [`SetupError`] if the set-up is invalid or the number of players is wrong.
    pub fn new(fixture: Fixture) -> Result<Self, SetupError> {
        let info = fixture.kind.info();
        if fixture.players.seats() != info.seats {
            return Err(SetupError(format!(
                "{} has {} seats, found {} players",
                info.name,
                info.seats,
                fixture.players.seats()
            )));
        }
        let table = fixture.kind.deal(&fixture.setup, &fixture.seed)?;
        let seats = PerSeat::new(info.seats, |seat| SeatProgress {
            clock: Clock::after(
                fixture.limits,
                fixture.spent.get(seat).copied().unwrap_or(Duration::ZERO),
            ),
            next_number: 0,
            gone: false,
        });
        Ok(Self {
            fixture,
            table,
            seats,
            fouls: Vec::new(),
            transcript: Transcript::default(),
            stage: SittingStage::Starting,
            waiting: Vec::new(),
            untold: Vec::new(),
        })
    }

    /// The next thing to do.
    ///
    /// # Panics
    ///
    /// If a question has not been answered by [`hear`](Self::hear).
    pub fn advance(&mut self) -> Next {
        if !self.waiting.is_empty() {
            self.resolve();
        }
        let step = match std::mem::replace(&mut self.stage, SittingStage::Playing) {
            SittingStage::Starting => return Next::Ask(self.ask_to_start()),
            SittingStage::Playing => self.table.step(),
            SittingStage::Stepped(step) => step,
        };
        if let TableStep::Over(outcome) = step {
            return Next::Over(Box::new(self.finish(&outcome)));
        }
        if !self.untold.is_empty() {
            self.stage = SittingStage::Stepped(step);
            return Next::Tell(self.tell_forfeits());
        }
        match step {
            TableStep::Tell(seats) => {
                let calls = seats
                    .into_iter()
                    .filter(|&seat| !self.seats[seat].gone)
                    .map(|seat| (seat, envelope::notice(&*self.table, seat)))
                    .collect();
                Next::Tell(self.told(calls))
            }
            TableStep::Ask(seats) => Next::Ask(seats.into_iter().map(|s| self.ask(s)).collect()),
            TableStep::Over(_) => unreachable!("handled above"),
        }
    }

    /// Judges what came back from a question. `thought` is the time since the question
    /// was handed to the transport, with what of it is excused apart.
    ///
    /// # Panics
    ///
    /// If the seat has not been asked or has already answered.
    pub fn hear(
        &mut self,
        seat: Seat,
        heard: SeatReply,
        thought: impl Into<ThinkingTime>,
    ) -> Judgement {
        let place = self
            .waiting
            .iter()
            .position(|(asked, answer)| *asked == seat && answer.is_none())
            .expect("the seat has been asked");
        // Whole microseconds: what is judged is what is recorded.
        let ThinkingTime { counted, excused } = thought.into();
        let whole = |time: Duration| Duration::from_micros(time.as_micros() as u64);
        let (thought, excused) = (whole(counted), whole(excused));
        let number = self.seats[seat].next_number - 1;
        let judgement = match self.judge(seat, number, heard, thought, excused) {
            Ok(judgement) => judgement,
            Err(foul) => {
                let foul = if number == 0 { foul.at_start() } else { foul };
                let kind = foul.kind();
                self.transcript.push(Event::Fouled {
                    seat,
                    foul: foul.clone(),
                    thought,
                });
                self.fouls.push(SeatFoul { seat, foul });
                self.seats[seat].gone = true;
                Judgement::Fouled(kind)
            }
        };
        self.waiting[place].1 = Some(!matches!(judgement, Judgement::Fouled(_)));
        judgement
    }

    /// Reason why the game ended, if it is over.
    #[must_use]
    pub fn ending(&self) -> Option<&Words> {
        self.table.ending()
    }

    /// The scene to draw: the game as everybody sees it.
    #[must_use]
    pub fn scene(&self) -> Scene {
        self.table.scene()
    }

    /// The scene to draw with all secrets visible, for games that are over.
    pub(crate) fn open_scene(&self) -> Scene {
        self.table.open_scene()
    }

    /// Plays to the end without bots. `choose` is given a seat, the number of its question and
    /// how many legal answers there are, and says which of them it is, from 0. Every seat is
    /// ready, and takes a millisecond for each answer.
    ///
    /// # Panics
    ///
    /// `choose` says one that there is not.
    #[must_use]
    pub fn play_out(mut self, mut choose: impl FnMut(Seat, u32, usize) -> usize) -> Record {
        loop {
            let questions = match self.advance() {
                Next::Tell(_) => continue,
                Next::Ask(questions) => questions,
                Next::Over(finished) => return finished.record,
            };
            for question in questions {
                let said = match question.number {
                    0 => envelope::ready(),
                    number => {
                        let legal = self.legal(question.seat);
                        let chosen = choose(question.seat, number, legal.len());
                        envelope::answer(number, &legal[chosen].1)
                    }
                };
                let thought = Duration::from_millis(1);
                self.hear(question.seat, SeatReply::Answer(said), thought);
            }
        }
    }

    /// Every legal answer of a seat to its question: notation and message.
    #[must_use]
    pub fn legal(&self, seat: Seat) -> Vec<(String, Vec<u8>)> {
        self.table.legal(seat)
    }

    /// The game itself with all its secrets, for games that are over.
    #[must_use]
    pub fn table(&self) -> &dyn Table {
        &*self.table
    }

    /// A copy of the game at this moment, which can be continued separately. It has all
    /// secrets, so it is for games that are over. Its transcript is empty: its record
    /// holds only what follows.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            fixture: self.fixture.clone(),
            table: self.table.fork(),
            seats: self.seats.clone(),
            fouls: self.fouls.clone(),
            transcript: Transcript::default(),
            stage: self.stage.clone(),
            waiting: self.waiting.clone(),
            untold: self.untold.clone(),
        }
    }

    /// The knowledge from which a seat that is asked may imagine the game. A [fork](Self::fork)
    /// does not know what came before it, so it has nothing to imagine.
    #[must_use]
    pub fn imagination(&self, seat: Seat) -> Imagination {
        Imagination::new(&self.fixture, self.transcript.events(), seat)
    }

    /// The open questions.
    #[must_use]
    pub fn pending(&self) -> Vec<Question> {
        let open = self.waiting.iter().filter(|(_, answer)| answer.is_none());
        open.map(|&(seat, _)| {
            let SeatProgress {
                clock, next_number, ..
            } = &self.seats[seat];
            let (number, limit) = (next_number - 1, clock.limit());
            Question {
                seat,
                number,
                limit,
                call: if number == 0 {
                    envelope::start(&self.fixture, &*self.table, seat, clock.budget_left())
                } else {
                    envelope::question(&*self.table, seat, number, limit)
                },
            }
        })
        .collect()
    }

    /// The last foul.
    ///
    /// # Panics
    ///
    /// Where there was none.
    pub(crate) fn into_last_foul(mut self) -> Foul {
        self.fouls.pop().expect("a foul was heard").foul
    }

    /// Number of events so far.
    pub(crate) fn events(&self) -> usize {
        self.transcript.events().len()
    }

    /// The record of the game so far that this seat may have while the game goes on.
    #[must_use]
    pub fn kept_by(&self, seat: Seat) -> String {
        let info = self.table.info();
        let header = SeatHeader {
            format: FORMAT,
            format_version: FORMAT_VERSION,
            game: info.name,
            rules_version: info.rules_version,
            game_id: &self.fixture.game_id,
            players: &self.fixture.players,
            limits: &self.fixture.limits,
            seat,
        };
        header.to_json_lines(self.transcript.events())
    }

    /// The game and its players.
    #[must_use]
    pub const fn fixture(&self) -> &Fixture {
        &self.fixture
    }

    fn ask_to_start(&mut self) -> Vec<Question> {
        Seat::all(self.seats.seats())
            .map(|seat| {
                let budget = self.seats[seat].clock.budget_left();
                let call = envelope::start(&self.fixture, &*self.table, seat, budget);
                self.asked(seat, self.fixture.limits.start, call)
            })
            .collect()
    }

    fn ask(&mut self, seat: Seat) -> Question {
        let limit = self.seats[seat].clock.limit();
        let number = self.seats[seat].next_number;
        let call = envelope::question(&*self.table, seat, number, limit);
        self.asked(seat, limit, call)
    }

    fn asked(&mut self, seat: Seat, limit: Duration, call: Bytes) -> Question {
        let number = self.seats[seat].next_number;
        self.seats[seat].next_number += 1;
        self.waiting.push((seat, None));
        self.transcript.push(Event::Asked {
            seat,
            number,
            call: call.clone(),
        });
        Question {
            seat,
            number,
            limit,
            call,
        }
    }

    /// Judges an answer: first its time, then its size, its number, and its content.
    fn judge(
        &mut self,
        seat: Seat,
        number: u32,
        heard: SeatReply,
        thought: Duration,
        excused: Duration,
    ) -> Result<Judgement, Foul> {
        let clock = &mut self.seats[seat].clock;
        let charge = if number == 0 {
            clock.charge_start(thought)
        } else {
            clock.charge(thought)
        };
        let answer = match (heard, charge) {
            // The foul was observed, whenever it came.
            (SeatReply::Foul(foul), _) => return Err(foul),
            (SeatReply::Answer(_), Charge::Late { limit }) => return Err(Foul::Late { limit }),
            (SeatReply::Nothing, Charge::Late { limit }) => return Err(Foul::Late { limit }),
            (SeatReply::Nothing, Charge::InTime) => {
                // The caller stopped waiting before the limit, which counts as late
                // too.
                return Err(Foul::Late { limit: thought });
            }
            (SeatReply::Answer(answer), Charge::InTime) => answer,
        };
        let limit = self.fixture.limits.answer_bytes;
        if answer.len() > limit {
            return Err(Foul::Oversized { limit });
        }
        let judged = self.read(seat, number, &answer);
        let notation = match &judged {
            Ok(Judgement::Accepted { notation, .. }) => Some(notation.clone()),
            _ => None,
        };
        self.transcript.push(Event::Answered {
            seat,
            number,
            answer,
            notation,
            thought,
            excused,
        });
        judged
    }

    fn read(&mut self, seat: Seat, number: u32, answer: &[u8]) -> Result<Judgement, Foul> {
        let malformed = |detail: String| Foul::Malformed {
            detail: Foul::evidence(detail),
        };
        let (got, ready) = envelope::read(answer).map_err(|error| malformed(error.to_string()))?;
        if got != number {
            return Err(Foul::WrongNumber {
                expected: number,
                got,
            });
        }
        if number == 0 {
            return ready
                .map(|ready| {
                    Judgement::Ready(Ready {
                        bot: Foul::evidence(&ready.bot),
                        version: Foul::evidence(&ready.version),
                        ..ready
                    })
                })
                .ok_or_else(|| malformed("expected Ready as the answer to GameStart".to_owned()));
        }
        match self.table.answer(seat, answer) {
            Ok(accepted) => Ok(Judgement::Accepted {
                notation: accepted.notation,
                public: accepted.public,
            }),
            Err(AnswerRefusal::Malformed(detail)) => Err(malformed(detail)),
            Err(AnswerRefusal::Illegal(reason)) => Err(Foul::Illegal {
                reason: Foul::evidence(reason),
            }),
        }
    }

    /// Applies all answers, in order of the seats.
    fn resolve(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        let starting = waiting
            .first()
            .is_some_and(|(seat, _)| self.seats[*seat].next_number == 1);
        let mut answered = false;
        for (seat, answer) in waiting.drain(..) {
            if answer.expect("every question has been answered") {
                answered = true;
            } else {
                let kind = self
                    .fouls
                    .iter()
                    .rfind(|foul| foul.seat == seat)
                    .map_or(FoulKind::Crashed, |foul| foul.foul.kind());
                let place = self.table.forfeit(seat);
                self.untold.push(LeftSeat {
                    seat,
                    foul: kind,
                    place,
                });
            }
        }
        self.waiting = waiting;
        if answered && !starting {
            self.table.resolve();
        }
    }

    fn tell_forfeits(&mut self) -> Vec<(Seat, Bytes)> {
        let untold = std::mem::take(&mut self.untold);
        let calls = untold
            .into_iter()
            .flat_map(|left| {
                let call = envelope::forfeit(left.seat, left.foul, left.place);
                self.playing().map(move |seat| (seat, call.clone()))
            })
            .collect();
        self.told(calls)
    }

    fn told(&mut self, calls: Vec<(Seat, Bytes)>) -> Vec<(Seat, Bytes)> {
        for (seat, call) in &calls {
            self.transcript.push(Event::Told {
                seat: *seat,
                call: call.clone(),
            });
        }
        calls
    }

    fn playing(&self) -> impl Iterator<Item = Seat> {
        self.seats
            .iter()
            .filter(|(_, state)| !state.gone)
            .map(|(seat, _)| seat)
    }

    fn finish(&mut self, outcome: &Outcome) -> Finished {
        let verdict = Verdict::Finished {
            outcome: outcome.clone(),
            fouls: std::mem::take(&mut self.fouls),
        };
        let call = envelope::over(&verdict, outcome);
        let last_calls = self.playing().map(|seat| (seat, call.clone())).collect();
        let last_calls = self.told(last_calls);
        let info = self.table.info();
        let record = Record {
            header: Header {
                format: FORMAT.to_owned(),
                format_version: FORMAT_VERSION,
                game: info.name.to_owned(),
                rules_version: info.rules_version,
                behavior_version: BEHAVIOR_VERSION,
                game_id: self.fixture.game_id.clone(),
                setup: self.table.setup(),
                seed: self.fixture.seed,
                players: self.fixture.players.clone(),
                limits: self.fixture.limits,
                spent: self.fixture.spent.clone(),
                // What no rules depend on: whoever started the bots knows it.
                sandbox: PerSeat::default(),
                identity: PerSeat::default(),
            },
            events: std::mem::take(&mut self.transcript).into_events(),
            result: ResultLine {
                verdict,
                thought_us: PerSeat::new(self.seats.seats(), |seat| {
                    self.seats[seat].clock.used().as_micros() as u64
                }),
            },
        };
        Finished { last_calls, record }
    }
}
