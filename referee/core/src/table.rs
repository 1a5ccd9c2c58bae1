//! A game in progress behind an interface without the game's types, so that the crates
//! above need no generics over games.

use std::marker::PhantomData;

use crate::{
    AnyWatcher, Dice, Game, GameFormat, GameInfo, GameToWrite, Language, Malformed, NotWritable,
    Occasion, Outcome, PastAnswer, Record, Scene, Seat, Seed, SetupError, Sight, State, Step,
    Trial, Watcher, Wire, Words, expected_words, format, imagine::imagined, named, shorten,
    wire::offered,
};

/// A kind of game, as the list of all games holds it.
pub trait GameKind: Send + Sync {
    /// Facts about the game.
    fn info(&self) -> &'static GameInfo;

    /// The path of the call by which a bot is asked to play.
    fn path(&self) -> &'static str;

    /// The .proto file of its messages with all that it imports, as an encoded
    /// `google.protobuf.FileDescriptorSet`.
    fn descriptors(&self) -> &'static [u8];

    /// True if the game has private or hidden fields. Then no bot may see two seatings of one
    /// deal.
    fn has_secrets(&self) -> bool;

    /// The full form of a set-up, which names every choice. A text is read as
    /// [`opening`](Self::opening) reads it.
    ///
    /// # Errors
    ///
    /// [`SetupError`] if it is not a set-up of this game, or if no game can begin like
    /// this.
    fn setup(&self, setup: &serde_json::Value) -> Result<serde_json::Value, SetupError>;

    /// Deals a game.
    ///
    /// # Errors
    ///
    /// [`SetupError`] as for [`setup`](Self::setup).
    fn deal(&self, setup: &serde_json::Value, seed: &Seed) -> Result<Box<dyn Table>, SetupError>;

    /// Reads a set-up in one line, as people write it, in the notation of the game or as JSON, and
    /// gives its full form; see [`Game::opening`].
    ///
    /// # Errors
    ///
    /// [`SetupError`] if it is no set-up, or if no game can begin like this.
    fn opening(&self, line: &str) -> Result<serde_json::Value, SetupError>;

    /// A game of this deal in one line: its beginning and these moves; see [`Game::transcript`].
    ///
    /// # Errors
    ///
    /// [`SetupError`] if the set-up is invalid.
    fn transcript(
        &self,
        deal: (&serde_json::Value, &Seed),
        moves: &[&str],
    ) -> Result<String, SetupError>;

    /// A move as people say it, where that is shorter than its notation; see [`Game::spoken_move`].
    fn spoken_move(&self, notation: &str, language: Language) -> String;

    /// The formats in which finished games of this kind can be written: first those of every game.
    fn formats(&self) -> Vec<GameFormat>;

    /// A finished game in the format of this name, with a line break at its end. The record is
    /// taken as it is: `verify` of `referee-games` says whether it is one of a possible game.
    ///
    /// # Errors
    ///
    /// [`NotWritable`] if there is no such format, or it can't say something of this game.
    fn write_game(
        &self,
        format: &str,
        record: &Record,
        occasion: &Occasion,
    ) -> Result<String, NotWritable>;

    /// Beginnings that a bot should be able to handle; see [`Game::trials`].
    fn trials(&self) -> &'static [Trial];

    /// The game of this deal after what seats have answered, as `seat` may imagine it, so that it
    /// can think about a game whose secrets it does not know: what it has not seen is dealt again
    /// (by [`Game::redeal`], which favours no deal knowingly but is no exact sample), and it is
    /// asked the same. `absent` left before the first question. None where the seat is not asked,
    /// or where the new deal does not lead there; another one may.
    ///
    /// # Errors
    ///
    /// [`SetupError`] as for [`setup`](Self::setup).
    fn imagined(
        &self,
        deal: (&serde_json::Value, &Seed),
        absent: &[Seat],
        past: &[PastAnswer<'_>],
        seat: Seat,
        dice: &mut Dice,
    ) -> Result<Option<Box<dyn Table>>, SetupError>;

    /// A watcher that learns what a seat knows, from its first call on.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are not the first call of this game.
    fn watch(&self, seat: Seat, start: &[u8]) -> Result<Box<dyn AnyWatcher>, Malformed>;

    /// Plays random games with this seed and checks the properties that every game must
    /// have. `forfeit` writes the call that reports a forfeit: the seat and its place.
    ///
    /// # Errors
    ///
    /// Says which property fails, and where.
    #[cfg(feature = "testing")]
    fn prove(&self, seed: &Seed, forfeit: crate::testing::WriteForfeit) -> Result<(), String>;
}

/// A game in progress.
pub trait Table: Send {
    /// Facts about the game.
    fn info(&self) -> &'static GameInfo;

    /// The set-up in its full form, which names every choice.
    fn setup(&self) -> serde_json::Value;

    /// Appends the public part of the set-up to a seat's first call.
    fn write_start(&self, seat: Seat, out: &mut Vec<u8>);

    /// The next step; see [`Game::step`].
    fn step(&mut self) -> TableStep;

    /// Appends the notice or question of the last step for this seat to `out`.
    fn write_call(&self, seat: Seat, out: &mut Vec<u8>);

    /// Takes a seat's answer to the question of the last step;
    /// [`resolve`](Self::resolve) applies it.
    ///
    /// # Errors
    ///
    /// [`AnswerRefusal`] if it can't be read or is against the rules. The table does not
    /// change then.
    fn answer(&mut self, seat: Seat, bytes: &[u8]) -> Result<Accepted, AnswerRefusal>;

    /// A seat leaves the game because of a foul; returns the place that it takes.
    fn forfeit(&mut self, seat: Seat) -> u8;

    /// Applies the answers that were taken since the last step.
    fn resolve(&mut self);

    /// Reason why the game ended, if it is over.
    fn ending(&self) -> Option<&Words>;

    /// The scene to draw: everything if the game is over, otherwise what everybody sees.
    fn scene(&self) -> Scene;

    /// The scene to draw with all secrets visible, for games that are over.
    fn open_scene(&self) -> Scene;

    /// Every legal answer to the question of the last step: notation and message.
    fn legal(&self, seat: Seat) -> Vec<(String, Vec<u8>)>;

    /// A copy of the game at this moment, which can be continued separately. It holds
    /// all secrets, so it is for games that are over.
    fn fork(&self) -> Box<dyn Table>;

    /// Plays to the end with legal answers. `choose` gets the seat and the number of
    /// its legal answers and returns an index in the order of [`legal`](Self::legal);
    /// an index that is too high means the last one. Open questions are asked again.
    fn play_out(&mut self, choose: &mut dyn FnMut(Seat, usize) -> usize) -> Outcome;
}

/// [`Step`] without the game's own types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableStep {
    /// Tell these seats.
    Tell(Vec<Seat>),
    /// Ask these seats.
    Ask(Vec<Seat>),
    /// It is over.
    Over(Outcome),
}

/// An answer that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The move in the notation of the game.
    pub notation: String,
    /// True if everybody may see it while the game goes on.
    pub public: bool,
}

/// The reason why an answer was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerRefusal {
    /// It can't be read.
    #[error("{0}")]
    Malformed(String),
    /// It is against the rules.
    #[error("{0}")]
    Illegal(String),
}

/// A game as an entry in the list of all games.
pub struct ListedGame<G>(PhantomData<G>);

impl<G> ListedGame<G> {
    /// The entry.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "used in a constant")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<G: Sight> ListedGame<G> {
    fn read(setup: &serde_json::Value) -> Result<G::Setup, SetupError> {
        use serde_json::Value;

        let setup = match setup {
            Value::Null => G::Setup::default(),
            Value::String(line) => return Self::read_line(line),
            Value::Object(_) => serde_json::from_value(setup.clone()).map_err(|error| {
                let game = G::INFO.name.replace('_', "-");
                let why = expected_words(&error.to_string());
                let example = Self::example(setup);
                SetupError(format!("not a set-up of {game}: {why}; one is {example}"))
            })?,
            other => {
                return Err(SetupError(format!(
                    "expected a set-up, such as {}, found {}",
                    G::INFO.setup_examples(true),
                    shorten(&other.to_string(), 40)
                )));
            }
        };
        G::validate(&setup)?;
        Ok(setup)
    }

    /// Reads a set-up in one line. One that no game can begin with is told with one that is taken.
    fn read_line(line: &str) -> Result<G::Setup, SetupError> {
        let setup = G::opening(line)?;
        G::validate(&setup).map_err(|SetupError(why)| named::refusal::<G>(line, &why))?;
        Ok(setup)
    }

    /// A set-up of this game, of those that have most of the same members.
    fn example(setup: &serde_json::Value) -> &'static str {
        let has = |text: &str| {
            let members = setup.as_object().into_iter().flatten();
            let shared = members.filter(|(name, _)| text.contains(&format!("\"{name}\"")));
            (shared.count(), text != "{}", std::cmp::Reverse(text.len()))
        };
        let all = G::trials().iter().map(|trial| trial.setup);
        all.max_by_key(|text| has(text)).unwrap_or("{}")
    }
}

impl<G: Sight> GameKind for ListedGame<G> {
    fn info(&self) -> &'static GameInfo {
        &G::INFO
    }

    fn path(&self) -> &'static str {
        G::PATH
    }

    fn descriptors(&self) -> &'static [u8] {
        G::DESCRIPTORS
    }

    fn trials(&self) -> &'static [Trial] {
        G::trials()
    }

    fn has_secrets(&self) -> bool {
        size_of::<G::Private>() > 0 || size_of::<G::Hidden>() > 0
    }

    fn setup(&self, setup: &serde_json::Value) -> Result<serde_json::Value, SetupError> {
        Ok(in_full(&Self::read(setup)?))
    }

    fn deal(&self, setup: &serde_json::Value, seed: &Seed) -> Result<Box<dyn Table>, SetupError> {
        let setup = Self::read(setup)?;
        let state = G::deal(&setup, &mut Dice::new(seed));
        Ok(Box::new(InProgress::<G>::new(setup, state)))
    }

    fn imagined(
        &self,
        (setup, seed): (&serde_json::Value, &Seed),
        absent: &[Seat],
        past: &[PastAnswer<'_>],
        seat: Seat,
        dice: &mut Dice,
    ) -> Result<Option<Box<dyn Table>>, SetupError> {
        let setup = Self::read(setup)?;
        let imagined = imagined::<G>(&setup, seed, absent, past, seat, dice);
        Ok(imagined.map(|(state, asked)| {
            let mut game = InProgress::<G>::new(setup, state);
            game.now = Now::Asking(asked);
            Box::new(game) as Box<dyn Table>
        }))
    }

    fn opening(&self, line: &str) -> Result<serde_json::Value, SetupError> {
        Ok(in_full(&Self::read_line(line)?))
    }

    fn spoken_move(&self, notation: &str, language: Language) -> String {
        G::spoken_move(notation, language)
    }

    fn transcript(
        &self,
        (setup, seed): (&serde_json::Value, &Seed),
        moves: &[&str],
    ) -> Result<String, SetupError> {
        let setup = Self::read(setup)?;
        let dealt = G::deal(&setup, &mut Dice::new(seed));
        Ok(G::transcript(&setup, &dealt.public, moves))
    }

    fn formats(&self) -> Vec<GameFormat> {
        let writers = format::writers::<G>();
        writers.into_iter().map(|writer| writer.format).collect()
    }

    fn write_game(
        &self,
        format: &str,
        record: &Record,
        occasion: &Occasion,
    ) -> Result<String, NotWritable> {
        let writers = format::writers::<G>();
        let Some(writer) = writers.iter().find(|writer| writer.format.name == format) else {
            let names: Vec<&str> = writers.iter().map(|writer| writer.format.name).collect();
            return Err(NotWritable(format!(
                "games of {} are written as {}, found {}",
                G::INFO.name.replace('_', "-"),
                names.join(", "),
                shorten(format, 40)
            )));
        };
        let header = &record.header;
        let setup = Self::read(&header.setup);
        let setup = setup.map_err(|error| NotWritable(format!("its set-up: {error}")))?;
        (writer.write)(&GameToWrite {
            setup: &setup,
            dealt: &G::deal(&setup, &mut Dice::new(&header.seed)),
            record,
            occasion,
        })
    }

    fn watch(&self, seat: Seat, start: &[u8]) -> Result<Box<dyn AnyWatcher>, Malformed> {
        Ok(Box::new(Watcher::<G>::new(seat, start)?))
    }

    #[cfg(feature = "testing")]
    fn prove(&self, seed: &Seed, forfeit: crate::testing::WriteForfeit) -> Result<(), String> {
        crate::testing::prove::<G>(&G::Setup::default(), seed, forfeit)
    }
}

fn in_full(setup: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(setup).expect("a set-up is numbers, words and lists")
}

#[derive(Clone)]
struct InProgress<G: Game> {
    setup: G::Setup,
    state: State<G>,
    now: Now<G>,
    answers: Vec<(Seat, G::Answer)>,
    ending: Option<Words>,
}

/// The last step, for the messages that go with it.
#[derive(Clone)]
enum Now<G: Game> {
    Nothing,
    Telling(G::Notice),
    Asking(Vec<(Seat, G::Question)>),
}

impl<G: Wire> InProgress<G> {
    const fn new(setup: G::Setup, state: State<G>) -> Self {
        Self {
            setup,
            state,
            now: Now::Nothing,
            answers: Vec::new(),
            ending: None,
        }
    }

    fn question(&self, seat: Seat) -> Option<G::Question> {
        match &self.now {
            Now::Asking(asked) => asked
                .iter()
                .find(|(asked, _)| *asked == seat)
                .map(|(_, question)| *question),
            _ => None,
        }
    }

    fn end(&mut self, outcome: Outcome<G::Ending>) -> Outcome {
        let (outcome, ending) = outcome.in_words();
        self.now = Now::Nothing;
        self.ending = Some(ending);
        outcome
    }
}

impl<G: Wire> Table for InProgress<G> {
    fn info(&self) -> &'static GameInfo {
        &G::INFO
    }

    fn setup(&self) -> serde_json::Value {
        in_full(&self.setup)
    }

    fn write_start(&self, seat: Seat, out: &mut Vec<u8>) {
        G::write_start(&self.state.observe(seat), out);
    }

    fn step(&mut self) -> TableStep {
        self.answers.clear();
        match G::step(&mut self.state) {
            Step::Tell(audience, notice) => {
                self.now = Now::Telling(notice);
                let told = Seat::all(G::INFO.seats).filter(|&seat| audience.includes(seat));
                TableStep::Tell(told.collect())
            }
            Step::Ask(asked) => {
                let seats = asked.iter().map(|(seat, _)| *seat).collect();
                self.now = Now::Asking(asked);
                TableStep::Ask(seats)
            }
            Step::Over(outcome) => TableStep::Over(self.end(outcome)),
        }
    }

    fn write_call(&self, seat: Seat, out: &mut Vec<u8>) {
        let sight = self.state.observe(seat);
        match &self.now {
            Now::Nothing => {}
            Now::Telling(notice) => G::write_notice(&sight, *notice, out),
            Now::Asking(_) => {
                if let Some(question) = self.question(seat) {
                    G::write_question(&sight, question, out);
                }
            }
        }
    }

    fn answer(&mut self, seat: Seat, bytes: &[u8]) -> Result<Accepted, AnswerRefusal> {
        let question = self
            .question(seat)
            .ok_or_else(|| AnswerRefusal::Malformed("nothing was asked".to_owned()))?;
        let answer = G::read_answer(question, bytes)
            .map_err(|malformed| AnswerRefusal::Malformed(malformed.to_string()))?;
        G::judge(&self.state.observe(seat), question, &answer)
            .map_err(|illegal| AnswerRefusal::Illegal(illegal.to_string()))?;
        let accepted = Accepted {
            notation: G::notation(&answer),
            public: G::is_public(question, &answer),
        };
        self.answers.push((seat, answer));
        Ok(accepted)
    }

    fn forfeit(&mut self, seat: Seat) -> u8 {
        self.answers.retain(|(answered, _)| *answered != seat);
        G::forfeit(&mut self.state, seat)
    }

    fn resolve(&mut self) {
        // In order of the seats, whoever answered first.
        self.answers.sort_by_key(|(seat, _)| *seat);
        G::resolve(&mut self.state, &self.answers);
        self.answers.clear();
        self.now = Now::Nothing;
    }

    fn ending(&self) -> Option<&Words> {
        self.ending.as_ref()
    }

    fn scene(&self) -> Scene {
        if self.ending.is_some() {
            self.open_scene()
        } else {
            G::scene(&self.state.public, &[])
        }
    }

    fn open_scene(&self) -> Scene {
        let private: Vec<_> = self.state.private.iter().collect();
        G::scene(&self.state.public, &private)
    }

    fn legal(&self, seat: Seat) -> Vec<(String, Vec<u8>)> {
        let Some(question) = self.question(seat) else {
            return Vec::new();
        };
        offered::<G>(&G::legal(&self.state.observe(seat), question))
    }

    fn fork(&self) -> Box<dyn Table> {
        Box::new(self.clone())
    }

    fn play_out(&mut self, choose: &mut dyn FnMut(Seat, usize) -> usize) -> Outcome {
        loop {
            let asked = match G::step(&mut self.state) {
                Step::Tell(..) => continue,
                Step::Ask(asked) => asked,
                Step::Over(outcome) => {
                    self.answers.clear();
                    return self.end(outcome);
                }
            };
            let answers: Vec<_> = asked
                .into_iter()
                .filter_map(|(seat, question)| {
                    let mut legal = G::legal(&self.state.observe(seat), question);
                    let last = legal.len().checked_sub(1)?;
                    let pick = choose(seat, legal.len()).min(last);
                    Some((seat, legal.swap_remove(pick)))
                })
                .collect();
            G::resolve(&mut self.state, &answers);
        }
    }
}
