//! The rules: two seats take one or more objects from one heap in turn. Who takes the last object of
//! all wins. Seat 0 begins.

use referee_core::{
    Dice, Game, GameInfo, Illegal, Observation, Outcome, PerSeat, Scene, Seat, SetupError,
    SetupPart, State, Step, Trial, Words,
};
use serde::{Deserialize, Serialize};

use super::ending::Ending;

/// The rules of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nim;

/// The set-up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// The number of objects on each heap, a digit each; `345` where it is not given.
    pub heaps: Option<String>,
}

/// Everything that everybody sees. There are no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Public {
    /// The number of objects on each heap.
    pub heaps: Vec<u8>,
    /// The seat whose turn it is.
    pub turn: Seat,
    /// The seats that have left the game by a foul.
    pub gone: [bool; 2],
}

/// The only question of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The objects that are to be taken.
    Take,
}

/// Objects that are taken from one heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Take {
    /// The heap, from 0.
    pub heap: u32,
    /// The number of objects.
    pub objects: u32,
}

/// This game has no notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

/// Most heaps.
const MOST_HEAPS: usize = 6;

impl Setup {
    fn heaps(&self) -> Result<Vec<u8>, SetupError> {
        let text = self.heaps.as_deref().unwrap_or("345");
        let digits = text
            .chars()
            .map(|c| c.to_digit(10).map(|digit| digit as u8));
        let heaps = digits.collect::<Option<Vec<u8>>>();
        let is_playable =
            |heaps: &Vec<u8>| heaps.len() <= MOST_HEAPS && heaps.iter().any(|&heap| heap > 0);
        heaps.filter(is_playable).ok_or_else(|| {
            SetupError(format!(
                "expected the objects on each heap, 1 to {MOST_HEAPS} digits that are not all 0, \
                 such as 345, found \"{text}\""
            ))
        })
    }
}

impl Public {
    /// A legal move.
    pub(super) fn play(&mut self, take: Take) {
        self.heaps[take.heap as usize] -= take.objects as u8;
        self.turn = self.turn.other();
    }
}

impl Game for Nim {
    const INFO: GameInfo = GameInfo {
        name: "nim",
        title: "Nim",
        seats: 2,
        rules_version: 1,
        notation: Words::of(
            "heap and number of objects, such as b2",
            "堆和取走的数量，例如 b2",
        ),
        setup: &[SetupPart::written("heaps", "各堆数量")],
        setup_lines: &["345", "heaps=345", r#"{"heaps":"345"}"#],
        purse: 0,
        scores: (-1, 1),
        most_questions: 9 * MOST_HEAPS as u32,
        sides: &["First", "Second"],
        rules: Words::of(
            "# Nim\n\nTake one or more objects from one heap. Who takes the last object wins.\n",
            "# 尼姆（Nim）\n\n从一堆中取走一个或多个物品，取走最后一个物品者胜。\n",
        ),
        score_is_lead: false,
    };

    type Setup = Setup;
    type Public = Public;
    type Private = ();
    type Hidden = ();
    type Notice = Never;
    type Question = Question;
    type Answer = Take;
    type Ending = Ending;

    fn validate(setup: &Setup) -> Result<(), SetupError> {
        setup.heaps().map(|_| ())
    }

    fn read_notation(line: &str) -> Result<Setup, SetupError> {
        Ok(Setup {
            heaps: Some(line.to_owned()),
        })
    }

    fn deal_line(setup: &Setup, _: &State<Self>) -> Option<String> {
        setup.heaps.clone()
    }

    /// The deal uses no dice.
    fn deal(setup: &Setup, _: &mut Dice) -> State<Self> {
        State {
            public: Public {
                heaps: setup.heaps().expect("the set-up has been validated"),
                turn: Seat::new(0),
                gone: [false; 2],
            },
            private: PerSeat::new(2, |_| ()),
            hidden: (),
        }
    }

    fn step(state: &mut State<Self>) -> Step<Self> {
        match outcome(&state.public) {
            Some(outcome) => Step::Over(outcome),
            None => Step::Ask(vec![(state.public.turn, Question::Take)]),
        }
    }

    fn judge(
        sight: &Observation<'_, Self>,
        Question::Take: Question,
        take: &Take,
    ) -> Result<(), Illegal> {
        let heaps = &sight.public().heaps;
        let Some(&there) = heaps.get(take.heap as usize) else {
            return Err(Illegal(format!(
                "expected a heap of 0 to {}, found {}",
                heaps.len() - 1,
                take.heap
            )));
        };
        match take.objects {
            1.. if take.objects <= u32::from(there) => Ok(()),
            objects => Err(Illegal(format!(
                "expected 1 object or more of the {there} on heap {}, found {objects}",
                take.heap
            ))),
        }
    }

    fn legal(sight: &Observation<'_, Self>, Question::Take: Question) -> Vec<Take> {
        let heaps = (0..).zip(&sight.public().heaps);
        let takes = heaps.flat_map(|(heap, &there)| {
            (1..=u32::from(there)).map(move |objects| Take { heap, objects })
        });
        takes.collect()
    }

    fn resolve(state: &mut State<Self>, answers: &[(Seat, Take)]) {
        for &(_, take) in answers {
            state.public.play(take);
        }
    }

    fn forfeit(state: &mut State<Self>, seat: Seat) -> u8 {
        state.public.gone[seat.index()] = true;
        2
    }

    fn is_public(_: Question, _: &Take) -> bool {
        true
    }

    fn scene(public: &Public, _: &[(Seat, &())]) -> Scene {
        super::scene::scene(public)
    }

    fn redeal(
        beginning: &State<Self>,
        _: &[(Seat, Question, Take)],
        _: Seat,
        _: &mut Dice,
    ) -> State<Self> {
        beginning.clone()
    }

    fn trials() -> &'static [Trial] {
        &[
            Trial {
                name: "the usual beginning",
                setup: "{}",
            },
            Trial {
                name: "one object is left",
                setup: r#"{"heaps":"0001"}"#,
            },
        ]
    }
}

fn outcome(public: &Public) -> Option<Outcome<Ending>> {
    let won_by = |winner: Seat, reason| match winner.index() {
        0 => Outcome::of_two([1, 2], [1, -1], reason),
        _ => Outcome::of_two([2, 1], [-1, 1], reason),
    };
    match public.gone {
        [true, true] => Some(Outcome::of_two([2, 2], [-1, -1], Ending::BothForfeited)),
        [true, false] => Some(won_by(Seat::new(1), Ending::Forfeit)),
        [false, true] => Some(won_by(Seat::new(0), Ending::Forfeit)),
        [false, false] if public.heaps.iter().all(|&heap| heap == 0) => {
            Some(won_by(public.turn.other(), Ending::LastTaken))
        }
        [false, false] => None,
    }
}
