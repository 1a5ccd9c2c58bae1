//! The rules page read to the letter, without a thought for speed. It shares
//! nothing with the rules but how cards are written.

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

use referee_games::big_two::Cards;

/// From low to high, as the page has them.
pub(crate) const NORMAL: &str = "3 4 5 6 7 8 9 10 J Q K A 2";
pub(crate) const REVERSED: &str = "2 A K Q J 10 9 8 7 6 5 4 3";
const FACES: &str = "A 2 3 4 5 6 7 8 9 10 J Q K";

/// A card as the page would write it; no suit is a joker.
pub(crate) type Paper = (&'static str, Option<char>);

pub(crate) fn deck() -> Vec<Paper> {
    let suits = ['C', 'D', 'H', 'S'].map(Some);
    let mut deck: Vec<Paper> = NORMAL
        .split(' ')
        .flat_map(|rank| suits.map(|suit| (rank, suit)))
        .collect();
    deck.extend([("JK1", None), ("JK2", None)]);
    deck
}

pub(crate) fn ours(cards: &[Paper]) -> Cards {
    let names: Vec<String> = cards
        .iter()
        .map(|(rank, suit)| format!("{rank}{}", suit.map_or(String::new(), String::from)))
        .collect();
    names.join(" ").parse().expect("good names")
}

pub(crate) fn place(rank: &str, order: &str) -> usize {
    order
        .split(' ')
        .position(|other| other == rank)
        .expect("a rank")
}

/// Kind (0 to 4 as the rulings list them), length, key, jokers.
pub(crate) type Reading = (usize, usize, usize, usize);

/// All that these cards can be.
pub(crate) fn readings(cards: &[Paper], order: &str) -> BTreeSet<Reading> {
    let naturals: Vec<(&str, char)> = cards
        .iter()
        .filter_map(|&(rank, suit)| Some((rank, suit?)))
        .collect();
    let jokers = cards.len() - naturals.len();
    let weakest = naturals.iter().map(|(rank, _)| place(rank, order)).min();
    let weakest = weakest.unwrap_or(13);
    let mut found = BTreeSet::new();
    for rank in NORMAL.split(' ') {
        if (1..=4).contains(&cards.len())
            && !naturals.is_empty()
            && naturals.iter().all(|(natural, _)| *natural == rank)
        {
            found.insert((cards.len() - 1, cards.len(), place(rank, order), jokers));
        }
    }
    if naturals.is_empty() && (1..=2).contains(&jokers) {
        found.insert((jokers - 1, jokers, 13, jokers));
    }
    if cards.len() >= 3 && naturals.len() >= 2 {
        let faces: Vec<&str> = FACES.split(' ').collect();
        for suit in ['C', 'D', 'H', 'S'] {
            // Each place of the span is filled by its card or by a joker.
            for span in faces.windows(cards.len()) {
                let fits = naturals
                    .iter()
                    .all(|(rank, of)| *of == suit && span.contains(rank));
                if fits {
                    found.insert((4, cards.len(), weakest, jokers));
                }
            }
        }
    }
    found
}

/// Cards of ours as the page would write them.
pub(crate) fn paper(cards: Cards) -> Vec<Paper> {
    static NAMES: LazyLock<HashMap<Cards, Paper>> =
        LazyLock::new(|| deck().iter().map(|card| (ours(&[*card]), *card)).collect());
    cards.iter().map(|card| NAMES[&card.into()]).collect()
}

/// A round of the page.
pub(crate) struct Slow {
    pub(crate) hands: [Vec<Paper>; 4],
    pub(crate) reversal: bool,
    pub(crate) payout: bool,
    pub(crate) reversed: bool,
    /// The seat that played last, and its cards, while it is to be beaten.
    pub(crate) to_beat: Option<(usize, Vec<Paper>)>,
    /// The seats that have passed since.
    passed: BTreeSet<usize>,
    /// The seat that is to play.
    pub(crate) turn: usize,
    pub(crate) places: [Option<usize>; 4],
    /// Whoever has forfeited, in order.
    pub(crate) forfeited: Vec<usize>,
    pub(crate) over: bool,
}

impl Slow {
    pub(crate) fn new(hands: [Vec<Paper>; 4], reversal: bool, payout: bool) -> Self {
        let holds = |hand: &Vec<Paper>| hand.contains(&("3", Some('C')));
        let turn = hands.iter().position(holds).expect("somebody has ♣3");
        Self {
            hands,
            reversal,
            payout,
            reversed: false,
            to_beat: None,
            passed: BTreeSet::new(),
            turn,
            places: [None; 4],
            forfeited: Vec::new(),
            over: false,
        }
    }

    pub(crate) fn order(&self) -> &'static str {
        if self.reversed { REVERSED } else { NORMAL }
    }

    pub(crate) fn in_play(&self, seat: usize) -> bool {
        self.places[seat].is_none()
    }

    /// True if the seat whose turn it is may play this.
    pub(crate) fn allows(&self, cards: &[Paper]) -> bool {
        let Some(&(kind, length, key, _)) = readings(cards, self.order()).first() else {
            return false;
        };
        let hand = &self.hands[self.turn];
        let opens = hand.contains(&("3", Some('C')));
        cards.iter().all(|card| hand.contains(card))
            && (!opens || cards.contains(&("3", Some('C'))))
            && self.to_beat.as_ref().is_none_or(|(_, other)| {
                let other = readings(other, self.order());
                let (its_kind, its_length, its_key, _) = other.first().expect("it was played");
                (kind, length) == (*its_kind, *its_length) && key > *its_key
            })
    }

    pub(crate) fn play(&mut self, cards: &[Paper]) {
        let seat = self.turn;
        self.hands[seat].retain(|card| !cards.contains(card));
        let is_four = readings(cards, self.order()).first().expect("a play").0 == 3;
        if is_four && self.reversal {
            self.reversed = !self.reversed;
        }
        self.to_beat = Some((seat, cards.to_vec()));
        self.passed.clear();
        if self.hands[seat].is_empty() {
            let best = (1..=4).find(|place| !self.places.contains(&Some(*place)));
            self.places[seat] = best;
            self.over |= self.payout;
        }
        self.after(seat);
    }

    pub(crate) fn pass(&mut self) {
        self.passed.insert(self.turn);
        self.after(self.turn);
    }

    /// The seat leaves by a foul, whoever's turn it is.
    pub(crate) fn forfeit(&mut self, seat: usize) -> usize {
        let worst = (1..=4)
            .rev()
            .find(|place| !self.places.contains(&Some(*place)));
        let place = worst.expect("a free place");
        self.places[seat] = Some(place);
        self.forfeited.push(seat);
        if self.forfeited.len() == 4 {
            return 4;
        }
        if self.turn == seat {
            self.passed.insert(seat);
            self.after(seat);
        } else {
            self.over |= (0..4).filter(|seat| self.in_play(*seat)).count() <= 1;
        }
        place
    }

    fn after(&mut self, seat: usize) {
        let playing: Vec<usize> = (0..4).filter(|seat| self.in_play(*seat)).collect();
        self.over |= playing.len() <= 1;
        if self.over {
            return;
        }
        let next = |seat: usize| {
            let mut clockwise = (1..=4).map(|step| (seat + step) % 4);
            clockwise
                .find(|seat| playing.contains(seat))
                .expect("some are in play")
        };
        self.turn = next(seat);
        if let Some((by, _)) = self.to_beat {
            let others_passed = playing
                .iter()
                .all(|seat| *seat == by || self.passed.contains(seat));
            if others_passed {
                self.to_beat = None;
                self.turn = if playing.contains(&by) { by } else { next(by) };
            }
        }
    }

    /// Places and scores when it is over.
    pub(crate) fn result(&self) -> ([usize; 4], [i32; 4]) {
        if self.forfeited.len() == 4 {
            return ([4; 4], [0; 4]);
        }
        let playing: Vec<usize> = (0..4).filter(|seat| self.in_play(*seat)).collect();
        if !self.payout {
            let free = (1..=4).find(|place| !self.places.contains(&Some(*place)));
            let places = self.places.map(|place| place.or(free).expect("a place"));
            return (places, places.map(|place| 4 - place as i32));
        }
        let winner = (0..4)
            .find(|seat| self.places[*seat] == Some(1))
            .unwrap_or(playing[0]);
        let mut scores = [0; 4];
        for seat in (0..4).filter(|seat| *seat != winner) {
            let hand = &self.hands[seat];
            let mut pays = hand.len() as i32;
            for (rank, suit) in hand {
                if suit.is_none() || *rank == "2" {
                    pays *= 2;
                }
            }
            scores[seat] = -pays;
            scores[winner] += pays;
        }
        let places =
            [0, 1, 2, 3].map(
                |seat| match self.forfeited.iter().position(|s| *s == seat) {
                    Some(nth) => 4 - nth,
                    None => {
                        1 + (0..4)
                            .filter(|other| {
                                !self.forfeited.contains(other) && scores[*other] > scores[seat]
                            })
                            .count()
                    }
                },
            );
        (places, scores)
    }
}
