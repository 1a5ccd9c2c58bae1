//! The rules: Black begins. A disc must enclose at least one run of the other side's
//! discs and turns all enclosed discs. A side without a move passes. The game is over
//! when neither side has a move.
//!
//! The referee passes for a side without a move: it is not asked.

use referee_core::{
    Dice, FormatWriter, Game, GameInfo, Illegal, Observation, Outcome, PerSeat, Scene, Seat,
    SetupError, SetupPart, State, Step, Trial, Words,
};

use super::{
    ending::Ending,
    formats::FORMATS,
    position::{BLACK, OthelloPosition, WHITE},
    setup::Setup,
    square::{Square, squares_of},
    trials::TRIALS,
};

/// The rules of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Othello;

/// Everything that everybody sees. There are no secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Public {
    /// The discs, and whose turn it is: while the game goes on, a side that has
    /// a move.
    pub position: OthelloPosition,
    /// The last action of the other side.
    pub previous: Previous,
    /// The discs that it has turned, as the bits of their squares.
    pub turned: u64,
    /// The seats that have left the game by a foul.
    pub gone: [bool; 2],
}

/// The last play or pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Previous {
    /// No move yet.
    None,
    /// A disc was placed here.
    Square(Square),
    /// A side had no move.
    Pass,
}

/// The only question of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The square where a disc is to be placed.
    Move,
}

/// This game has no notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

impl Public {
    /// Before the first move of a game from this position, in which this was
    /// done last.
    #[must_use]
    pub fn beginning(position: OthelloPosition, previous: Previous) -> Self {
        let mut public = Self {
            position,
            previous,
            turned: 0,
            gone: [false; 2],
        };
        public.pass_if_it_must();
        public
    }

    /// A legal move of the side to move.
    pub fn play(&mut self, square: Square) {
        self.turned = self.position.board.flips(square);
        self.position = self.position.play(square);
        self.previous = Previous::Square(square);
        self.pass_if_it_must();
    }

    fn pass_if_it_must(&mut self) {
        if self.position.must_pass() {
            self.position = self.position.pass();
            self.previous = Previous::Pass;
            self.turned = 0;
        }
    }
}

impl Game for Othello {
    const INFO: GameInfo = GameInfo {
        name: "othello",
        title: "Othello",
        seats: 2,
        rules_version: 1,
        notation: Words::of("column and row, such as d3", "列和行，例如 d3"),
        setup: &[
            SetupPart::written("position", "局面"),
            SetupPart::written("moves", "开局着法"),
        ],
        setup_lines: &[
            "f5d6c3",
            "------------------X--------XX------OXX-----O-------------------- O",
            "---------------------------OX------XO--------------------------- X f5d6c3",
            "moves=f5d6c3",
            r#"{"moves":"f5d6c3"}"#,
        ],
        purse: 0,
        scores: (-64, 64),
        // A disc for each square; a seat that must pass is not asked.
        most_questions: 64,
        sides: &["Black", "White"],
        rules: Words::of(
            include_str!("../../../../docs/rules/othello.md"),
            include_str!("../../../../docs/zh/rules/othello.md"),
        ),
        score_is_lead: true,
    };

    const FORMATS: &'static [FormatWriter<Self>] = FORMATS;

    type Setup = Setup;
    type Public = Public;
    type Private = ();
    type Hidden = ();
    type Notice = Never;
    type Question = Question;
    type Answer = Square;
    type Ending = Ending;

    fn validate(setup: &Setup) -> Result<(), SetupError> {
        beginning(setup).map(|_| ())
    }

    /// Reads a position (`…64 squares… X`), a transcript (`f5d6c3`), or a position and a
    /// transcript after it.
    fn read_notation(line: &str) -> Result<Setup, SetupError> {
        Setup::read_notation(line).map_err(SetupError)
    }

    /// The squares one after another, such as `f5d6c3`, from the first move of the
    /// opening on; passes are not written. After a position, that comes first. Where nothing was
    /// played there is the position alone.
    fn transcript(setup: &Setup, dealt: &Public, moves: &[&str]) -> String {
        let opening = setup.squares().unwrap_or_default();
        let opening = opening.iter().map(ToString::to_string).collect::<String>();
        let moves = opening + &moves.concat();
        let position = match &setup.position {
            Some(text) => text.parse().ok(),
            None => moves.is_empty().then_some(dealt.position),
        };
        let position = position.map(|position: OthelloPosition| position.to_string());
        let parts = position.into_iter().chain([moves]);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }

    fn trials() -> &'static [Trial] {
        TRIALS
    }

    fn deal_line(setup: &Setup, dealt: &State<Self>) -> Option<String> {
        (*setup != Setup::default()).then(|| Self::transcript(setup, &dealt.public, &[]))
    }

    /// The deal uses no dice.
    fn deal(setup: &Setup, _: &mut Dice) -> State<Self> {
        State {
            public: beginning(setup).expect("the set-up has been validated"),
            private: PerSeat::new(2, |_| ()),
            hidden: (),
        }
    }

    fn step(state: &mut State<Self>) -> Step<Self> {
        match outcome(&state.public) {
            Some(outcome) => Step::Over(outcome),
            None => Step::Ask(vec![(state.public.position.turn, Question::Move)]),
        }
    }

    fn judge(
        sight: &Observation<'_, Self>,
        Question::Move: Question,
        &square: &Square,
    ) -> Result<(), Illegal> {
        match sight.public().position.refuse(square) {
            None => Ok(()),
            Some(why) => Err(Illegal(why)),
        }
    }

    fn legal(sight: &Observation<'_, Self>, Question::Move: Question) -> Vec<Square> {
        squares_of(sight.public().position.board.moves()).collect()
    }

    fn resolve(state: &mut State<Self>, answers: &[(Seat, Square)]) {
        for &(_, square) in answers {
            state.public.play(square);
        }
    }

    fn forfeit(state: &mut State<Self>, seat: Seat) -> u8 {
        state.public.gone[seat.index()] = true;
        2
    }

    fn is_public(_: Question, _: &Square) -> bool {
        true
    }

    fn scene(public: &Public, _: &[(Seat, &())]) -> Scene {
        super::scene::scene(public)
    }

    fn redeal(
        beginning: &State<Self>,
        _: &[(Seat, Question, Square)],
        _: Seat,
        _: &mut Dice,
    ) -> State<Self> {
        beginning.clone()
    }
}

fn beginning(setup: &Setup) -> Result<Public, SetupError> {
    let (position, last) = setup.position().map_err(SetupError)?;
    if position.board.is_over() {
        return Err(SetupError(format!(
            "neither side has a move in \"{position}\": the game would be over at once"
        )));
    }
    Ok(Public::beginning(
        position,
        last.map_or(Previous::None, Previous::Square),
    ))
}

/// Scores are the disc difference on the board. In a game that ended by a foul both
/// scores are 0, so statistics of discs must leave it out.
fn outcome(public: &Public) -> Option<Outcome<Ending>> {
    let (difference, score, reason) = match public.gone {
        [true, true] => return Some(Outcome::of_two([2, 2], [0, 0], Ending::BothForfeited)),
        [true, false] => (-1, 0, Ending::Forfeit),
        [false, true] => (1, 0, Ending::Forfeit),
        [false, false] if public.position.board.is_over() => {
            let difference = public.position.board_of(BLACK).difference();
            (difference, difference, count(public.position))
        }
        [false, false] => return None,
    };
    let places = match difference.signum() {
        1 => [1, 2],
        0 => [1, 1],
        _ => [2, 1],
    };
    Some(Outcome::of_two(places, [score, -score], reason))
}

fn count(position: OthelloPosition) -> Ending {
    let has_empty = position.board.empty() != 0;
    let lead = position.board_of(BLACK).tournament_difference() / 2;
    Ending::Counted {
        discs: [BLACK, WHITE].map(|seat| position.discs(seat).count_ones()),
        with_empty: has_empty.then_some([32 + lead, 32 - lead]),
    }
}
