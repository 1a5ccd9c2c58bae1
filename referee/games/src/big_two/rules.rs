//! The rules: the set-up, the deal, notices and questions, legal plays, and the new
//! deal of what a seat has not seen.

use referee_core::{
    Audience, Dice, Game, GameInfo, Illegal, Observation, PerSeat, Scene, Seat, SetupError,
    SetupPart, State, Step, Trial, Words,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{
    card::{Card, Cards},
    combination::Combination,
    ending::Ending,
    outcome::outcome,
    plays::plays,
    round::{Move, Public, Rules, SEATS, Scoring, following},
    trials::TRIALS,
};
use crate::written::list_or_line;

/// The rules of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BigTwo;

/// No hand pays more: 14 cards, with the four twos and both jokers among them.
const MOST_PAID: i32 = 14 << 6;

const EXAMPLE: &str = "3C 4C 5C 6C 7C 8C 9C 10C JC QC KC AC 2C JK1 | 3D 4D 5D 6D 7D 8D 9D 10D JD QD KD AD 2D JK2 | 3H 4H 5H 6H 7H 8H 9H 10H JH QH KH AH 2H | 3S 4S 5S 6S 7S 8S 9S 10S JS QS KS AS 2S";

/// Four hands.
type Hands = [Cards; SEATS as usize];

/// Reads four hands in one line.
fn hands(line: &str) -> Result<Hands, String> {
    let hands = line
        .split('|')
        .map(str::parse)
        .collect::<Result<Vec<Cards>, _>>();
    four(hands.map_err(|error| format!("hands: {error}"))?)
}

fn four(hands: Vec<Cards>) -> Result<Hands, String> {
    Hands::try_from(hands).map_err(|hands| {
        format!(
            "expected four hands with | between them, found {}, such as {EXAMPLE}",
            hands.len()
        )
    })
}

fn read_hands<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Hands>, D::Error> {
    let hands = list_or_line(from, |line| hands(line).map(Vec::from))?;
    hands.map(four).transpose().map_err(D::Error::custom)
}

/// The set-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// Its scoring.
    pub scoring: Scoring,
    /// True if a four of a kind reverses the order.
    pub reversal: bool,
    /// The hands in order of the seats: all 54 cards, two hands of 14 and two of 13 in
    /// any order. Shuffled if not given. They are read from a line too, with `|` between them.
    #[serde(deserialize_with = "read_hands")]
    pub hands: Option<Hands>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            scoring: Scoring::default(),
            reversal: true,
            hands: None,
        }
    }
}

/// Everything that no seat sees, apart from the other seats' hands.
#[derive(Clone, Debug)]
pub struct Hidden {
    /// The seat that leads first: the holder of ♣3, or the next in play.
    opener: Seat,
    /// True if all have been told what was done last.
    told: bool,
}

/// A notice to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The last play or pass.
    Move,
}

/// The only question of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The choice of cards to play, or a pass.
    Play,
}

impl Game for BigTwo {
    const INFO: GameInfo = GameInfo {
        name: "big_two",
        title: "Reversal Big Two",
        seats: SEATS,
        rules_version: 1,
        notation: Words::of(
            "the cards with spaces between, as in 3C 3D JK1, or pass",
            "各张牌以空格隔开，例如 3C 3D JK1；pass 表示过牌",
        ),
        setup: &[
            SetupPart::of(
                "scoring",
                "计分方式",
                &[
                    ("places", Words::of("by places", "按名次")),
                    (
                        "payout",
                        Words::of("by payments for cards that are left", "按剩余的牌赔付"),
                    ),
                ],
            ),
            SetupPart::of(
                "reversal",
                "大小反转",
                &[
                    ("true", Words::of("plays can reverse the order", "可以反转")),
                    ("false", Words::of("the order stays", "不反转")),
                ],
            ),
            SetupPart::written("hands", "手牌"),
        ],
        setup_lines: &[
            EXAMPLE,
            "scoring=payout,reversal=false",
            r#"{"scoring":"payout"}"#,
        ],
        purse: 1_000,
        scores: (-MOST_PAID, 3 * MOST_PAID),
        // Each card may be a play of its own, to which the three others pass.
        most_questions: 54 * SEATS as u32,
        sides: &[],
        rules: Words::of(
            include_str!("../../../../docs/rules/big-two.md"),
            include_str!("../../../../docs/zh/rules/big-two.md"),
        ),
        score_is_lead: false,
    };

    type Setup = Setup;
    type Public = Public;
    /// The hand.
    type Private = Cards;
    type Hidden = Hidden;
    type Notice = Notice;
    type Question = Question;
    type Answer = Move;
    type Ending = Ending;

    fn validate(setup: &Setup) -> Result<(), SetupError> {
        let Some(hands) = &setup.hands else {
            return Ok(());
        };
        let refuse = |why: String| Err(SetupError(format!("hands: {why}")));
        for card in Card::all() {
            let mut holders = Seat::all(SEATS).filter(|seat| hands[seat.index()].contains(card));
            match (holders.next(), holders.next()) {
                (None, _) => return refuse(format!("{card} is missing")),
                (Some(one), Some(other)) => {
                    return refuse(format!("{card} is in the hands of seats {one} and {other}"));
                }
                (Some(_), None) => {}
            }
        }
        for (seat, hand) in hands.iter().enumerate() {
            if !(13..=14).contains(&hand.len()) {
                return refuse(format!(
                    "seat {seat} must have 13 or 14 cards, found {}",
                    hand.len()
                ));
            }
        }
        Ok(())
    }

    /// Reads four hands in order of the seats, with `|` between them.
    fn read_notation(line: &str) -> Result<Setup, SetupError> {
        let hands = hands(line).map_err(SetupError)?;
        Ok(Setup {
            hands: Some(hands),
            ..Setup::default()
        })
    }

    /// The hands.
    fn deal_line(setup: &Setup, dealt: &State<Self>) -> Option<String> {
        let scoring = match setup.scoring {
            Scoring::Places => "places",
            Scoring::Payout => "payout",
        };
        let hands: Vec<String> = dealt
            .private
            .iter()
            .map(|(_, hand)| hand.to_string())
            .collect();
        Some(format!(
            "scoring={scoring},reversal={},hands={}",
            setup.reversal,
            hands.join(" | ")
        ))
    }

    fn trials() -> &'static [Trial] {
        TRIALS
    }

    fn deal(setup: &Setup, dice: &mut Dice) -> State<Self> {
        let hands = setup.hands.unwrap_or_else(|| {
            let mut deck: Vec<Card> = Card::all().collect();
            dice.shuffle(&mut deck);
            let mut hands = [Cards::NONE; SEATS as usize];
            for (i, card) in deck.into_iter().enumerate() {
                hands[i % SEATS as usize].insert(card);
            }
            hands
        });
        let rules = Rules {
            scoring: setup.scoring,
            reversal: setup.reversal,
        };
        let private = PerSeat::from(hands.to_vec());
        State {
            public: Public::beginning(rules, hands.map(Cards::len)),
            hidden: Hidden {
                opener: opener(&private),
                told: true,
            },
            private,
        }
    }

    fn step(state: &mut State<Self>) -> Step<Self> {
        if !state.hidden.told {
            state.hidden.told = true;
            return Step::Tell(Audience::Everybody, Notice::Move);
        }
        if let Some(outcome) = outcome(state) {
            return Step::Over(outcome);
        }
        let turn = state.public.turn.unwrap_or(state.hidden.opener);
        Step::Ask(vec![(turn, Question::Play)])
    }

    fn judge(
        sight: &Observation<'_, Self>,
        Question::Play: Question,
        answer: &Move,
    ) -> Result<(), Illegal> {
        let public = sight.public();
        let illegal = |why: String| Err(Illegal(why));
        let cards = match (answer, public.trick) {
            (Move::Play(cards), _) => *cards,
            (Move::Pass, Some(_)) => return Ok(()),
            (Move::Pass, None) => {
                return illegal("expected a play, for whoever leads may not pass".to_owned());
            }
        };
        let others = cards - *sight.private();
        if !others.is_empty() {
            return illegal(format!("expected cards of the hand, which lacks {others}"));
        }
        let Some(play) = Combination::of(cards) else {
            return illegal(format!(
                "expected a single, a pair, three or four of a kind or a straight flush, \
                 found {cards:?}"
            ));
        };
        if must_open(sight) && !cards.contains(Card::THREE_OF_CLUBS) {
            return illegal(format!(
                "expected a play with 3C as the first of the game, found {cards}"
            ));
        }
        match public.trick {
            Some(trick) if !play.beats(trick.play, public.order) => illegal(format!(
                "expected a {} above {}{}, or a pass, found {cards} ({play})",
                trick.play,
                trick.play.cards(),
                public.order.in_words(),
            )),
            _ => Ok(()),
        }
    }

    /// The plays in their order, then the pass.
    fn legal(sight: &Observation<'_, Self>, Question::Play: Question) -> Vec<Move> {
        let public = sight.public();
        let to_beat = public.trick.map(|trick| trick.play);
        let opens = must_open(sight);
        let mut legal: Vec<Move> = plays(*sight.private(), to_beat, public.order)
            .into_iter()
            .filter(|cards| !opens || cards.contains(Card::THREE_OF_CLUBS))
            .map(Move::Play)
            .collect();
        if to_beat.is_some() {
            legal.push(Move::Pass);
        }
        legal
    }

    fn resolve(state: &mut State<Self>, answers: &[(Seat, Move)]) {
        for &(seat, did) in answers {
            if let Move::Play(cards) = did {
                state.private[seat] -= cards;
            }
            state.public.take(seat, did);
            state.hidden.told = false;
        }
    }

    fn forfeit(state: &mut State<Self>, seat: Seat) -> u8 {
        let place = state.public.forfeit(seat);
        // If the seat with ♣3 leaves, the next seat in play leads.
        for _ in 0..SEATS {
            if !state.public.in_play(state.hidden.opener) {
                state.hidden.opener = following(state.hidden.opener);
            }
        }
        place
    }

    fn is_public(_: Question, _: &Move) -> bool {
        true
    }

    fn scene(public: &Public, private: &[(Seat, &Cards)]) -> Scene {
        super::scene::scene(public, private)
    }

    /// The cards that the others have not played are dealt again among them.
    /// After the first answer ♣3 stays where it was: all know who led.
    fn redeal(
        beginning: &State<Self>,
        answers: &[(Seat, Question, Move)],
        seat: Seat,
        dice: &mut Dice,
    ) -> State<Self> {
        let mut seen = beginning.private[seat];
        if !answers.is_empty() {
            seen.insert(Card::THREE_OF_CLUBS);
        }
        for (_, _, did) in answers {
            if let Move::Play(cards) = did {
                seen |= *cards;
            }
        }
        let mut unseen: Vec<Card> = (Cards::DECK - seen).iter().collect();
        dice.shuffle(&mut unseen);
        let mut again = beginning.clone();
        for (_, hand) in again.private.iter_mut() {
            let known = *hand & seen;
            let dealt = unseen.split_off(unseen.len() - usize::from((*hand - seen).len()));
            *hand = known | dealt.into_iter().collect();
        }
        again.hidden.opener = opener(&again.private);
        again
    }
}

/// True if the play must contain ♣3: the seat that is asked and holds it is the first
/// of the game.
pub(super) fn must_open(sight: &Observation<'_, BigTwo>) -> bool {
    sight.private().contains(Card::THREE_OF_CLUBS)
}

/// The seat that holds ♣3.
fn opener(hands: &PerSeat<Cards>) -> Seat {
    hands
        .iter()
        .find(|(_, hand)| hand.contains(Card::THREE_OF_CLUBS))
        .map_or(Seat::new(0), |(seat, _)| seat)
}
