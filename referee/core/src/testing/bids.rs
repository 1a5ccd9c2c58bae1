//! A game for tests: it has secrets and asks several seats at once. With `LEAK` a
//! secret is public by mistake, with `EARLY` it is public one move too soon.

use crate::{
    Audience, Dice, Game, GameInfo, Illegal, Malformed, Observation, Outcome, PerSeat, Scene, Seat,
    SetupError, Sight, State, Step, Wire, Words,
};

const SEATS: u8 = 3;
const CARDS: u8 = 24;
const HAND: usize = 4;

/// Three seats hold four cards each. In every trick all bid a card at once, the highest
/// card takes the trick, and each seat draws a card while there are cards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bids<const LEAK: bool, const EARLY: bool = false>;

#[derive(Clone, Debug, PartialEq)]
pub struct Public {
    tricks: PerSeat<u8>,
    left: u8,
    gone: PerSeat<bool>,
    last: Vec<Option<u8>>,
    /// 0, except in the games with a leak: the next card of the deck, or the seat with
    /// the highest card, which the first bid would tell.
    peek: u8,
}

#[derive(Clone, Debug)]
pub struct Hidden {
    deck: Vec<u8>,
    told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice {
    Trick,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    Bid,
}

/// Field 6 of the envelope: a forfeit.
const FORFEIT: u8 = 6 << 3 | 2;

impl<const LEAK: bool, const EARLY: bool> Bids<LEAK, EARLY> {
    /// Writes the call that reports a forfeit as the envelope does: seat (field 1) and
    /// place (field 3).
    #[must_use]
    pub fn write_forfeit(seat: Seat, place: u8) -> Vec<u8> {
        vec![FORFEIT, 4, 1 << 3, seat.index() as u8, 3 << 3, place]
    }

    fn draw(state: &mut State<Self>) {
        for seat in Seat::all(SEATS) {
            if let Some(card) = state.hidden.deck.pop() {
                state.private[seat].push(card);
                state.public.left -= 1;
            }
        }
        if LEAK {
            state.public.peek = state.hidden.deck.last().copied().unwrap_or(0);
        }
    }
}

impl<const LEAK: bool, const EARLY: bool> Game for Bids<LEAK, EARLY> {
    const INFO: GameInfo = GameInfo {
        name: "bids",
        title: "Sealed bids",
        seats: SEATS,
        rules_version: 1,
        notation: Words::of("the card", "一张牌"),
        setup: &[],
        setup_lines: &["{}"],
        purse: 0,
        scores: (0, CARDS as i32),
        most_questions: CARDS as u32 * SEATS as u32,
        sides: &[],
        rules: Words::of("", ""),
        score_is_lead: false,
    };
    type Setup = ();
    type Public = Public;
    type Private = Vec<u8>;
    type Hidden = Hidden;
    type Notice = Notice;
    type Question = Question;
    type Answer = u8;
    type Ending = Words;

    fn validate((): &()) -> Result<(), SetupError> {
        Ok(())
    }

    /// A deal can't be set up by hand.
    fn deal_line((): &(), _: &State<Self>) -> Option<String> {
        None
    }

    fn deal((): &(), dice: &mut Dice) -> State<Self> {
        let mut deck: Vec<u8> = (1..=CARDS).collect();
        dice.shuffle(&mut deck);
        let mut state = State {
            public: Public {
                tricks: PerSeat::new(SEATS, |_| 0),
                left: CARDS,
                gone: PerSeat::new(SEATS, |_| false),
                last: vec![None; SEATS.into()],
                peek: 0,
            },
            private: PerSeat::new(SEATS, |_| Vec::new()),
            hidden: Hidden { deck, told: false },
        };
        for _ in 0..HAND {
            Self::draw(&mut state);
        }
        if EARLY {
            state.public.peek = highest(&state.private);
        }
        state
    }

    fn step(state: &mut State<Self>) -> Step<Self> {
        let playing: Vec<Seat> = Seat::all(SEATS)
            .filter(|&seat| !state.public.gone[seat] && !state.private[seat].is_empty())
            .collect();
        if playing.len() < 2 {
            let tricks = &state.public.tricks;
            let best = tricks.iter().map(|(_, &n)| n).max().unwrap_or(0);
            return Step::Over(Outcome {
                places: PerSeat::new(SEATS, |seat| if tricks[seat] == best { 1 } else { 2 }),
                scores: PerSeat::new(SEATS, |seat| i32::from(tricks[seat])),
                reason: Words::new("no cards left", "没有牌了"),
            });
        }
        if !state.hidden.told {
            state.hidden.told = true;
            return Step::Tell(Audience::Everybody, Notice::Trick);
        }
        Step::Ask(playing.into_iter().map(|s| (s, Question::Bid)).collect())
    }

    fn judge(sight: &Observation<'_, Self>, _: Question, card: &u8) -> Result<(), Illegal> {
        if sight.private().contains(card) {
            Ok(())
        } else {
            Err(Illegal(format!("card {card} is not in the hand")))
        }
    }

    fn legal(sight: &Observation<'_, Self>, _: Question) -> Vec<u8> {
        sight.private().clone()
    }

    fn resolve(state: &mut State<Self>, answers: &[(Seat, u8)]) {
        state.public.last = vec![None; SEATS.into()];
        for &(seat, card) in answers {
            state.private[seat].retain(|&held| held != card);
            state.public.last[seat.index()] = Some(card);
        }
        if let Some(&(winner, _)) = answers.iter().max_by_key(|(_, card)| *card) {
            state.public.tricks[winner] += 1;
        }
        Self::draw(state);
        state.hidden.told = false;
    }

    fn forfeit(state: &mut State<Self>, seat: Seat) -> u8 {
        state.public.gone[seat] = true;
        state.hidden.told = false;
        SEATS
    }

    fn is_public(_: Question, _: &u8) -> bool {
        false
    }

    fn scene(_: &Public, _: &[(Seat, &Vec<u8>)]) -> Scene {
        Scene::default()
    }

    fn redeal(
        beginning: &State<Self>,
        answers: &[(Seat, Question, u8)],
        seat: Seat,
        dice: &mut Dice,
    ) -> State<Self> {
        // A card stays where it is if this seat has held it or seen it played.
        let drawn = answers.iter().filter(|(by, ..)| *by == seat).count();
        let played = |card: u8| {
            answers.iter().any(|(_, _, bid)| *bid == card)
                || EARLY && card == CARDS && !answers.is_empty()
        };
        let mut again = beginning.clone();
        let mut slots: Vec<&mut u8> = Vec::new();
        for (holder, hand) in again.private.iter_mut() {
            if holder != seat {
                slots.extend(hand.iter_mut().filter(|card| !played(**card)));
            }
        }
        for (i, card) in again.hidden.deck.iter_mut().rev().enumerate() {
            let own = i % SEATS as usize == seat.index() && i / (SEATS as usize) < drawn;
            if !own && !played(*card) {
                slots.push(card);
            }
        }
        let mut values: Vec<u8> = slots.iter().map(|card| **card).collect();
        dice.shuffle(&mut values);
        for (slot, value) in slots.into_iter().zip(values) {
            *slot = value;
        }
        if LEAK {
            again.public.peek = again.hidden.deck.last().copied().unwrap_or(0);
        }
        if EARLY {
            again.public.peek = highest(&again.private);
        }
        again
    }
}

impl<const LEAK: bool, const EARLY: bool> Wire for Bids<LEAK, EARLY> {
    const PATH: &'static str = "/games.bids.v1.BidsBot/Play";
    const DESCRIPTORS: &'static [u8] = &[];

    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>) {
        write(sight, false, out);
    }

    fn write_notice(sight: &Observation<'_, Self>, _: Notice, out: &mut Vec<u8>) {
        write(sight, false, out);
    }

    fn write_question(sight: &Observation<'_, Self>, _: Question, out: &mut Vec<u8>) {
        write(sight, true, out);
    }

    fn read_answer(_: Question, bytes: &[u8]) -> Result<u8, Malformed> {
        match read_field(bytes)? {
            [card] => Ok(*card),
            _ => Err(Malformed("expected one byte".to_owned())),
        }
    }

    fn write_answer(answer: &u8, out: &mut Vec<u8>) {
        write_field(&[*answer], out);
    }

    fn notation(answer: &u8) -> String {
        answer.to_string()
    }
}

/// The number of the seat that holds the highest card, from 1; 0 while it is in the deck.
fn highest(hands: &PerSeat<Vec<u8>>) -> u8 {
    let holder = hands.iter().find(|(_, hand)| hand.contains(&CARDS));
    holder.map_or(0, |(seat, _)| seat.index() as u8 + 1)
}

/// Field 10 of a protobuf message, as bytes.
const FIELD: u8 = 10 << 3 | 2;

fn write_field(payload: &[u8], out: &mut Vec<u8>) {
    out.push(FIELD);
    out.push(u8::try_from(payload.len()).expect("a short payload"));
    out.extend(payload);
}

/// Finds field 10 behind the fields of an envelope, which are numbers (wire
/// type 0) and short payloads (wire type 2).
fn read_field(mut message: &[u8]) -> Result<&[u8], Malformed> {
    while let [tag, rest @ ..] = message {
        let skip = match (tag & 7, rest) {
            (0, _) => 1 + rest.iter().take_while(|byte| **byte >= 0x80).count(),
            (2, [length, ..]) => 1 + usize::from(*length),
            _ => break,
        };
        match rest.get(..skip) {
            Some(field) if *tag == FIELD => return Ok(&field[1..]),
            Some(_) => message = &rest[skip..],
            None => break,
        }
    }
    Err(Malformed("expected field 10".to_owned()))
}

fn write<const LEAK: bool, const EARLY: bool>(
    sight: &Observation<'_, Bids<LEAK, EARLY>>,
    asks: bool,
    all: &mut Vec<u8>,
) {
    let public = sight.public();
    let mut out = Vec::new();
    for seat in Seat::all(SEATS) {
        out.push(public.tricks[seat]);
        out.push(public.gone[seat].into());
        out.push(public.last[seat.index()].unwrap_or(0));
    }
    out.extend([public.left, public.peek, asks.into()]);
    out.extend(sight.private());
    write_field(&out, all);
}

impl<const LEAK: bool, const EARLY: bool> Sight for Bids<LEAK, EARLY> {
    type View = Vec<u8>;

    fn begin(_: Seat, start: &[u8]) -> Result<Vec<u8>, Malformed> {
        read_field(start).map(<[u8]>::to_vec)
    }

    fn hear(view: &mut Vec<u8>, call: &[u8]) -> Result<Option<Question>, Malformed> {
        if let [FORFEIT, _, _, seat, ..] = call {
            view[3 * usize::from(*seat) + 1] = 1;
            return Ok(None);
        }
        *view = read_field(call)?.to_vec();
        Ok((view[11] == 1).then_some(Question::Bid))
    }

    fn answered(_: &mut Vec<u8>, _: Question, _: &u8) {
        // Every call holds everything that the seat knows.
    }

    fn known(view: &Vec<u8>) -> (Public, Vec<u8>) {
        let seat = |s: Seat, what: usize| view[3 * s.index() + what];
        let public = Public {
            tricks: PerSeat::new(SEATS, |s| seat(s, 0)),
            gone: PerSeat::new(SEATS, |s| seat(s, 1) != 0),
            last: Seat::all(SEATS)
                .map(|s| Some(seat(s, 2)).filter(|&card| card != 0))
                .collect(),
            left: view[9],
            peek: view[10],
        };
        (public, view[12..].to_vec())
    }
}
