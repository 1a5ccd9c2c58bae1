//! The rules of a round: two seats draw and discard in turn until one of them
//! wins or the wall is empty.

use referee_core::{
    Audience, Dice, Game, GameInfo, Illegal, Observation, Outcome, PerSeat, Scene, Seat,
    SetupError, SetupPart, State, Step, Trial, Words,
};

use super::{
    ending::Ending,
    hand::Hand,
    redeal::redeal,
    setup::{DEALT, Setup, TileWall},
    tile::Tile,
    trials::TRIALS,
    value::{MissingSuit, faan},
};

/// Number of tiles in the wall when both hands have been dealt.
pub const WALL: u8 = 82;
/// The pay of a seat for a faan, and for the other's foul.
const PAY: i32 = 3;
/// No hand is worth more: the highest row of the table, doubled for each of three roots.
const MOST_FAAN: i32 = 16 << 3;

/// The rules of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mahjong;

/// Everything that everybody sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Public {
    /// The rule on a missing suit: whether a winning hand must do without one of the suits.
    pub missing_suit: MissingSuit,
    /// Number of tiles in the wall when this turn began. It does not show whether the
    /// seat has drawn, since its discard may still be claimed.
    pub wall: u8,
    /// The discards of each seat, in order; the last one may be claimed.
    pub rivers: [Vec<Tile>; 2],
    /// The seat that has won, and how.
    pub won: Option<Won>,
    /// The seats that have left the game by a foul.
    pub gone: [bool; 2],
}

/// The win of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Won {
    /// The winner.
    pub seat: Seat,
    /// The tile that completed the hand.
    pub tile: Tile,
    /// True if it was drawn; otherwise the other seat discarded it.
    pub self_draw: bool,
    /// The hand with that tile.
    pub hand: Hand,
}

impl Won {
    /// The value of the hand; `None` if it does not win.
    #[must_use]
    pub fn faan(&self, missing_suit: MissingSuit) -> Option<u32> {
        faan(&self.hand, missing_suit)
    }
}

/// Everything that one seat sees in addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Private {
    /// Its 13 tiles; none before they are dealt.
    pub hand: Hand,
    /// The tile that it has drawn in this turn.
    pub drawn: Option<Tile>,
}

/// Everything that nobody sees.
#[derive(Clone, Debug)]
pub struct Hidden {
    /// Tiles that are to be drawn, the next one at the back.
    pub(super) wall: Vec<Tile>,
    next: RoundPhase,
}

/// The phase of a round: what happens next in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoundPhase {
    Deal(Seat),
    Draw,
    Claim { self_draw: bool },
    TellDrawn,
    Discard,
    TellDiscarded,
}

/// A notice to a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Its hand, or the tile that it has drawn.
    Drawn,
    /// The tile that the other has discarded.
    Discarded,
}

/// A question to a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The choice of a tile to discard.
    Discard,
    /// The choice to win with the drawn tile, or with the other seat's discard.
    Win {
        /// True if it was drawn.
        self_draw: bool,
    },
}

/// An answer of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This tile leaves the hand.
    Discard(Tile),
    /// The round is won.
    Win,
    /// The seat declines.
    Pass,
}

impl Public {
    /// Before anything was discarded.
    #[must_use]
    pub const fn beginning(missing_suit: MissingSuit, wall: u8) -> Self {
        Self {
            missing_suit,
            wall,
            rivers: [Vec::new(), Vec::new()],
            won: None,
            gone: [false; 2],
        }
    }

    /// The seat whose turn it is: who draws next, or has drawn.
    #[must_use]
    pub const fn turn(&self) -> Seat {
        let [first, second] = &self.rivers;
        Seat::new((first.len() > second.len()) as u8)
    }

    /// The last discard.
    #[must_use]
    pub fn last_discard(&self) -> Option<Tile> {
        self.rivers[self.turn().other().index()].last().copied()
    }

    /// Puts a tile of this seat on the table.
    pub(super) fn discard(&mut self, seat: Seat, tile: Tile) {
        self.rivers[seat.index()].push(tile);
        self.wall = self.wall.saturating_sub(1);
    }

    /// The round as won by this seat with the tile that was drawn or discarded last. It
    /// does not check that the hand wins, since only a seat with such a hand is asked.
    pub(super) fn win(&self, seat: Seat, private: &Private, self_draw: bool) -> Option<Won> {
        let tile = if self_draw {
            private.drawn
        } else {
            self.last_discard()
        }?;
        private.hand.has_room(tile).then(|| Won {
            seat,
            tile,
            self_draw,
            hand: private.hand.with(tile),
        })
    }

    fn may_win(&self, seat: Seat, private: &Private, self_draw: bool) -> bool {
        let won = self.win(seat, private, self_draw);
        won.is_some_and(|won| won.faan(self.missing_suit).is_some())
    }
}

impl Private {
    /// The hand with the tile that was drawn.
    #[must_use]
    pub fn all(&self) -> Hand {
        match self.drawn {
            Some(drawn) => self.hand.with(drawn),
            None => self.hand,
        }
    }

    /// Takes a tile that it holds out of the hand.
    pub(super) fn discard(&mut self, tile: Tile) {
        *self = Self {
            hand: self.all().without(tile),
            drawn: None,
        };
    }
}

impl Game for Mahjong {
    const INFO: GameInfo = GameInfo {
        name: "mahjong",
        title: "Arcade Mahjong",
        seats: 2,
        rules_version: 1,
        notation: Words::of(
            "a tile such as 3c, or win, or pass",
            "一张牌，例如 3c；win 表示和牌，pass 表示不和",
        ),
        setup: &[
            SetupPart::of(
                "missing_suit",
                "缺一门",
                &[
                    (
                        "required",
                        Words::of("a winning hand lacks a suit", "和牌必须缺一门"),
                    ),
                    (
                        "free",
                        Words::of("a winning hand may have all suits", "不必缺一门"),
                    ),
                ],
            ),
            SetupPart::written("wall", "牌墙"),
            SetupPart::written("hands", "手牌"),
        ],
        setup_lines: &[
            "122367c1478b138d 4589c23569b2579d",
            "missing-suit=free",
            r#"{"missing_suit":"free"}"#,
        ],
        purse: 0,
        scores: (0, PAY * MOST_FAAN + WALL as i32),
        // For each tile of the wall a claim, a discard and a claim of the other seat.
        most_questions: 3 * WALL as u32,
        sides: &[],
        rules: Words::of(
            include_str!("../../../../docs/rules/mahjong.md"),
            include_str!("../../../../docs/zh/rules/mahjong.md"),
        ),
        score_is_lead: false,
    };

    type Setup = Setup;
    type Public = Public;
    type Private = Private;
    type Hidden = Hidden;
    type Notice = Notice;
    type Question = Question;
    type Answer = Answer;
    type Ending = Ending;

    fn validate(setup: &Setup) -> Result<(), SetupError> {
        setup.wall().map(|_| ())
    }

    /// Reads two hands, or a whole wall.
    fn read_notation(line: &str) -> Result<Setup, SetupError> {
        Setup::read_notation(line).map_err(SetupError)
    }

    fn trials() -> &'static [Trial] {
        TRIALS
    }

    /// The whole wall.
    fn deal_line(setup: &Setup, dealt: &State<Self>) -> Option<String> {
        Some(setup.line_of_wall(&dealt.hidden.wall))
    }

    /// Shuffles the tiles that the set-up does not place; nothing is dealt yet.
    fn deal(setup: &Setup, dice: &mut Dice) -> State<Self> {
        let TileWall { mut wall, shuffled } = setup.wall().expect("the set-up has been validated");
        dice.shuffle(&mut wall[..shuffled]);
        State {
            public: Public::beginning(setup.missing_suit, WALL),
            private: PerSeat::new(2, |_| Private::default()),
            hidden: Hidden {
                wall,
                next: RoundPhase::Deal(Seat::new(0)),
            },
        }
    }

    fn step(state: &mut State<Self>) -> Step<Self> {
        if let Some(outcome) = outcome(state) {
            return Step::Over(outcome);
        }
        let turn = state.public.turn();
        let State {
            private, hidden, ..
        } = state;
        match hidden.next {
            RoundPhase::Deal(seat) => {
                for _ in 0..DEALT {
                    let tile = hidden.wall.pop().expect("the wall holds both hands");
                    private[seat].hand.add(tile);
                }
                hidden.next = match seat.index() {
                    0 => RoundPhase::Deal(seat.other()),
                    _ => RoundPhase::Draw,
                };
                Step::Tell(Audience::Only(seat), Notice::Drawn)
            }
            RoundPhase::Draw => {
                private[turn].drawn = hidden.wall.pop();
                hidden.next = if state.public.may_win(turn, &private[turn], true) {
                    RoundPhase::Claim { self_draw: true }
                } else {
                    RoundPhase::TellDrawn
                };
                Self::step(state)
            }
            RoundPhase::Claim { self_draw } => Step::Ask(vec![(turn, Question::Win { self_draw })]),
            RoundPhase::TellDrawn => {
                hidden.next = RoundPhase::Discard;
                Step::Tell(Audience::Only(turn), Notice::Drawn)
            }
            RoundPhase::Discard => Step::Ask(vec![(turn, Question::Discard)]),
            RoundPhase::TellDiscarded => {
                hidden.next = RoundPhase::Draw;
                Step::Tell(Audience::Only(turn), Notice::Discarded)
            }
        }
    }

    fn judge(
        sight: &Observation<'_, Self>,
        question: Question,
        answer: &Answer,
    ) -> Result<(), Illegal> {
        match (question, answer) {
            (Question::Discard, Answer::Discard(tile)) => {
                let hand = sight.private().all();
                if hand.contains(*tile) {
                    Ok(())
                } else {
                    Err(Illegal(format!("expected a tile of {hand}, found {tile}")))
                }
            }
            (Question::Win { .. }, Answer::Win | Answer::Pass) => Ok(()),
            (Question::Discard, _) => Err(Illegal("expected a discard".to_owned())),
            (Question::Win { .. }, _) => Err(Illegal("expected win or pass".to_owned())),
        }
    }

    fn legal(sight: &Observation<'_, Self>, question: Question) -> Vec<Answer> {
        match question {
            Question::Discard => sight.private().all().kinds().map(Answer::Discard).collect(),
            Question::Win { .. } => vec![Answer::Win, Answer::Pass],
        }
    }

    fn resolve(state: &mut State<Self>, answers: &[(Seat, Answer)]) {
        for &(seat, answer) in answers {
            let State {
                public,
                private,
                hidden,
            } = state;
            let self_draw = hidden.next == RoundPhase::Claim { self_draw: true };
            match answer {
                Answer::Discard(tile) => {
                    private[seat].discard(tile);
                    public.discard(seat, tile);
                    let other = seat.other();
                    hidden.next = if public.may_win(other, &private[other], false) {
                        RoundPhase::Claim { self_draw: false }
                    } else {
                        RoundPhase::TellDiscarded
                    };
                }
                Answer::Win => public.won = public.win(seat, &private[seat], self_draw),
                Answer::Pass if self_draw => hidden.next = RoundPhase::TellDrawn,
                Answer::Pass => hidden.next = RoundPhase::TellDiscarded,
            }
        }
    }

    fn forfeit(state: &mut State<Self>, seat: Seat) -> u8 {
        state.public.gone[seat.index()] = true;
        2
    }

    fn is_public(question: Question, answer: &Answer) -> bool {
        // Declining a claim must not show that there was one.
        question == Question::Discard || *answer == Answer::Win
    }

    fn scene(public: &Public, private: &[(Seat, &Private)]) -> Scene {
        super::scene::scene(public, private)
    }

    fn redeal(
        beginning: &State<Self>,
        answers: &[(Seat, Question, Answer)],
        seat: Seat,
        dice: &mut Dice,
    ) -> State<Self> {
        redeal(beginning, answers, seat, dice)
    }

    fn decline(question: Question) -> Option<Answer> {
        match question {
            Question::Discard => None,
            Question::Win { .. } => Some(Answer::Pass),
        }
    }
}

fn outcome(state: &State<Mahjong>) -> Option<Outcome<Ending>> {
    let State { public, hidden, .. } = state;
    // A seat may leave before the hands are dealt.
    let left = i32::from(WALL).min(hidden.wall.len() as i32);
    let (winner, score, reason) = match (public.gone, &public.won) {
        ([true, true], _) => {
            return Some(Outcome::of_two([2, 2], [0, 0], Ending::BothForfeited));
        }
        ([true, false], _) => (Seat::new(1), PAY + left, Ending::Forfeit),
        ([false, true], _) => (Seat::new(0), PAY + left, Ending::Forfeit),
        (_, Some(won)) => {
            let faan = won.faan(public.missing_suit);
            let faan = faan.expect("a win is offered only with a hand that wins");
            let ending = Ending::Won {
                faan,
                tile: won.tile,
                self_draw: won.self_draw,
            };
            (won.seat, PAY * faan as i32 + left, ending)
        }
        _ if hidden.next == RoundPhase::Draw && left == 0 => {
            return Some(Outcome::of_two([1, 1], [0, 0], Ending::WallEmpty));
        }
        _ => return None,
    };
    Some(if winner.index() == 0 {
        Outcome::of_two([1, 2], [score, 0], reason)
    } else {
        Outcome::of_two([2, 1], [0, score], reason)
    })
}
