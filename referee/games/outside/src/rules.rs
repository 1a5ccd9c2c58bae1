//! The rules, and what to draw.

use referee_core::{
    Area, Cell, Dice, Game, GameInfo, Illegal, Observation, Outcome, PerSeat, Piece, Scene, Seat,
    SetupError, Shape, State, Step, Trial, Words,
};
use serde::{Deserialize, Serialize};

/// The most that may be taken at once.
const MOST_TAKEN: u8 = 3;
/// The largest heap.
const LARGEST: u8 = 30;

/// The rules of Nim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nim {}

/// The beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// How many counters the heap has; otherwise 15 to 21 are drawn.
    pub counters: Option<u8>,
}

/// Everything that everybody sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heap {
    /// The counters that are left.
    pub left: u8,
    /// The seat whose turn it is.
    pub turn: Seat,
    /// The seats that have left by a foul.
    pub gone: [bool; 2],
}

/// The only question of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How many counters to take.
    Take,
}

/// This game has no notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

/// The reason why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// One seat or both left by a foul.
    Forfeit,
    /// The heap is empty.
    LastTaken,
}

impl From<Ending> for Words {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Forfeit => Self::new("forfeit", "弃权"),
            Ending::LastTaken => Self::new("the last counter was taken", "取走了最后一枚"),
        }
    }
}

impl Game for Nim {
    const INFO: GameInfo = GameInfo {
        name: "nim",
        title: "Nim",
        seats: 2,
        rules_version: 1,
        notation: Words::of("how many", "枚数"),
        setup: &[Words::of("counters", "枚数")],
        setup_lines: &["counters=7", r#"{"counters":7}"#],
        purse: 0,
        scores: (-1, 1),
        most_questions: LARGEST as u32,
        sides: &[],
        rules: Words::of("# Nim\n\nTake 1 to 3.\n", "# 尼姆\n\n取一至三枚。\n"),
        score_is_lead: false,
    };

    type Setup = Setup;
    type Public = Heap;
    type Private = ();
    type Hidden = ();
    type Notice = Never;
    type Question = Question;
    type Answer = u8;
    type Ending = Ending;

    fn validate(setup: &Setup) -> Result<(), SetupError> {
        match setup.counters {
            Some(counters) if !(1..=LARGEST).contains(&counters) => Err(SetupError(format!(
                "expected 1 to {LARGEST} counters, found {counters}"
            ))),
            _ => Ok(()),
        }
    }

    fn trials() -> &'static [Trial] {
        &[
            Trial {
                name: "usual",
                setup: "{}",
            },
            Trial {
                name: "one counter",
                setup: r#"{"counters":1}"#,
            },
        ]
    }

    fn deal_line(_: &Setup, dealt: &State<Self>) -> Option<String> {
        Some(format!("counters={}", dealt.public.left))
    }

    fn deal(setup: &Setup, dice: &mut Dice) -> State<Self> {
        let drawn = 15 + dice.below(7) as u8;
        State {
            public: Heap::of(setup.counters.unwrap_or(drawn)),
            private: PerSeat::new(2, |_| ()),
            hidden: (),
        }
    }

    fn step(state: &mut State<Self>) -> Step<Self> {
        let heap = &state.public;
        let (places, scores, reason) = match (heap.gone, heap.left, heap.turn.index()) {
            ([true, true], ..) => ([2, 2], [-1, -1], Ending::Forfeit),
            ([true, false], ..) => ([2, 1], [-1, 1], Ending::Forfeit),
            ([false, true], ..) => ([1, 2], [1, -1], Ending::Forfeit),
            // Whoever would be next has not taken the last one.
            (_, 0, 0) => ([2, 1], [-1, 1], Ending::LastTaken),
            (_, 0, _) => ([1, 2], [1, -1], Ending::LastTaken),
            _ => return Step::Ask(vec![(heap.turn, Question::Take)]),
        };
        Step::Over(Outcome::of_two(places, scores, reason))
    }

    fn judge(sight: &Observation<'_, Self>, _: Question, taken: &u8) -> Result<(), Illegal> {
        let most = sight.public().most();
        match (1..=most).contains(taken) {
            true => Ok(()),
            false => Err(Illegal(format!("expected 1 to {most}, found {taken}"))),
        }
    }

    fn legal(sight: &Observation<'_, Self>, _: Question) -> Vec<u8> {
        (1..=sight.public().most()).collect()
    }

    fn resolve(state: &mut State<Self>, answers: &[(Seat, u8)]) {
        for &(seat, taken) in answers {
            state.public.take(seat, taken);
        }
    }

    fn forfeit(state: &mut State<Self>, seat: Seat) -> u8 {
        state.public.gone[seat.index()] = true;
        2
    }

    fn is_public(_: Question, _: &u8) -> bool {
        true
    }

    fn scene(heap: &Heap, _: &[(Seat, &())]) -> Scene {
        let counters = (1..=heap.left).map(|number| {
            let counter = Cell::new(Piece::Disc { seat: heap.turn });
            match number <= heap.most() {
                true => counter.says(number.to_string()),
                false => counter,
            }
        });
        Scene {
            areas: vec![Area {
                label: Words::new("heap", "堆"),
                seat: None,
                shape: Shape::Row,
                cells: counters.collect(),
            }],
            captions: Vec::new(),
        }
    }

    fn redeal(
        beginning: &State<Self>,
        _: &[(Seat, Question, u8)],
        _: Seat,
        _: &mut Dice,
    ) -> State<Self> {
        beginning.clone()
    }
}

impl Heap {
    pub(crate) const fn of(counters: u8) -> Self {
        Self {
            left: counters,
            turn: Seat::new(0),
            gone: [false; 2],
        }
    }

    /// The most that may be taken now.
    fn most(&self) -> u8 {
        self.left.min(MOST_TAKEN)
    }

    pub(crate) fn take(&mut self, seat: Seat, taken: u8) {
        self.left = self.left.saturating_sub(taken);
        self.turn = seat.other();
    }
}
