//! The properties of every game, checked by random play: no secret leaks, the calls are
//! enough to know what a seat sees, and every legal answer is accepted.

mod bids;

pub use bids::Bids;

use crate::{
    Dice, Game, PerSeat, Seat, Seed, Sight, State, Step, Watcher, Words,
    imagine::{PlayerReply, Script},
    wire::written,
};

/// Writes the call that reports a forfeit: the seat and its place.
pub type WriteForfeit = fn(Seat, u8) -> Vec<u8>;

/// More answers than any game has.
const ENDLESS: usize = 100_000;

/// All that was said in one game.
struct Said<G: Game> {
    /// The calls of each seat, from the first on.
    calls: PerSeat<Vec<Vec<u8>>>,
    /// Every question and its answer; `None` if the seat left.
    moves: Vec<(Seat, G::Question, Option<G::Answer>)>,
}

impl<G: Game> Said<G> {
    fn answers(&self) -> Vec<(Seat, G::Question, G::Answer)> {
        let answers = self.moves.iter().filter_map(|(seat, question, answer)| {
            answer.clone().map(|answer| (*seat, *question, answer))
        });
        answers.collect()
    }
}

/// Plays one random game from this set-up and seed and checks every property.
///
/// # Errors
///
/// Says which property fails, and where.
pub fn prove<G: Sight>(setup: &G::Setup, seed: &Seed, forfeit: WriteForfeit) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let beginning = G::deal(setup, &mut dice);
    let table = DealProof {
        beginning: &beginning,
        forfeit,
    };

    let whole =
        table.play(|state, seat, question| random_answer::<G>(state, seat, question, &mut dice))?;
    table.nothing_leaks(&whole, &mut dice)?;

    // Most is hidden before the first answer, so this moment is always tested and not
    // left to a random cut: a moment later it may be known who begins.
    let nothing = table.play(|_, _, _| Ok(PlayerReply::Stop))?;
    table.nothing_leaks(&nothing, &mut dice)?;

    // A random cut: what was sent up to it must not depend on what the seat has not
    // seen, and the game must end if the seat leaves there.
    let cut = dice.below(whole.moves.len() as u32 + 1) as usize;
    let mut left = cut;
    let leaver = dice.below(u32::from(G::INFO.seats)) as u8;
    let short = table.play(|state, seat, question| {
        if left == 0 {
            return Ok(PlayerReply::Stop);
        }
        left -= 1;
        random_answer::<G>(state, seat, question, &mut dice)
    })?;
    table.nothing_leaks(&short, &mut dice)?;

    let mut left = cut;
    let left_by_one = table.play(|state, seat, question| {
        if left == 0 && seat == Seat::new(leaver) {
            return Ok(PlayerReply::Forfeit);
        }
        left = left.saturating_sub(1);
        random_answer::<G>(state, seat, question, &mut dice)
    })?;
    // The secrets of a seat that leaves stay secret. That it was asked may be seen: a
    // seat that leaves instead of giving the first answer may show who begins, and a
    // new deal takes only answers into account.
    if cut > 0 {
        table.nothing_leaks(&left_by_one, &mut dice)?;
    }

    // Any number of seats leave, some before the first question.
    let absent = Seat::all(G::INFO.seats)
        .filter(|_| dice.below(4) == 0)
        .collect::<Vec<_>>();
    let patience = 1 + dice.below(whole.moves.len() as u32 + 1);
    table.play_without(&absent, |state, seat, question| {
        if dice.below(patience) == 0 {
            return Ok(PlayerReply::Forfeit);
        }
        random_answer::<G>(state, seat, question, &mut dice)
    })?;
    Ok(())
}

/// A deal, and the function that writes the call about a forfeit.
struct DealProof<'a, G: Game> {
    beginning: &'a State<G>,
    forfeit: WriteForfeit,
}

/// The calls of each seat so far, and its watcher.
struct Telling<G: Sight> {
    said: Said<G>,
    watchers: Vec<Watcher<G>>,
    gone: PerSeat<bool>,
}

impl<G: Sight> Telling<G> {
    fn new(state: &State<G>) -> Result<Self, String> {
        let seats = G::INFO.seats;
        let mut calls = PerSeat::new(seats, |_| Vec::new());
        let mut watchers = Vec::new();
        for seat in Seat::all(seats) {
            let mut start = Vec::new();
            G::write_start(&state.observe(seat), &mut start);
            watchers.push(Watcher::new(seat, &start).map_err(|error| error.to_string())?);
            calls[seat].push(start);
        }
        Ok(Self {
            said: Said {
                calls,
                moves: Vec::new(),
            },
            watchers,
            gone: PerSeat::new(seats, |_| false),
        })
    }

    /// Sends a call to a seat and checks that the seat knows its observation and its
    /// question by it.
    fn hear(
        &mut self,
        state: &State<G>,
        seat: Seat,
        asked: Option<G::Question>,
        call: Vec<u8>,
    ) -> Result<(), String> {
        self.whisper(seat, asked, call)?;
        let known = G::known(self.watchers[seat.index()].view());
        if known != (state.public.clone(), state.private[seat].clone()) {
            return Err(format!(
                "seat {seat} was told enough to know {known:?}, but sees {:?}",
                (&state.public, &state.private[seat])
            ));
        }
        Ok(())
    }

    /// Sends a call after which more calls must follow before the seat knows
    /// everything.
    fn whisper(
        &mut self,
        seat: Seat,
        asked: Option<G::Question>,
        call: Vec<u8>,
    ) -> Result<(), String> {
        let heard = self.watchers[seat.index()]
            .hear(&call)
            .map_err(|error| error.to_string())?;
        if heard != asked {
            return Err(format!(
                "seat {seat} is asked {asked:?} and hears {heard:?}"
            ));
        }
        self.said.calls[seat].push(call);
        Ok(())
    }

    /// Seats leave; the others are told, unless the game is over.
    fn leave(
        &mut self,
        state: &mut State<G>,
        leaving: &[Seat],
        write: WriteForfeit,
    ) -> Result<(), String> {
        let mut news = Vec::new();
        for &seat in leaving {
            self.gone[seat] = true;
            let place = G::forfeit(state, seat);
            if !(1..=G::INFO.seats).contains(&place) {
                return Err(format!("seat {seat} left and took place {place}"));
            }
            news.push((seat, place));
        }
        if matches!(G::step(&mut state.clone()), Step::Over(_)) {
            return Ok(());
        }
        let Some((last, first)) = news.split_last() else {
            return Ok(());
        };
        for seat in Seat::all(G::INFO.seats) {
            if self.gone[seat] {
                continue;
            }
            for &(left, place) in first {
                self.whisper(seat, None, write(left, place))?;
            }
            self.hear(state, seat, None, write(last.0, last.1))?;
        }
        Ok(())
    }
}

fn random_answer<G: Sight>(
    state: &State<G>,
    seat: Seat,
    question: G::Question,
    dice: &mut Dice,
) -> Result<PlayerReply<G::Answer>, String> {
    let sight = state.observe(seat);
    let mut legal = G::legal(&sight, question);
    if legal.is_empty() {
        return Err(format!("no legal answer to {question:?} for seat {seat}"));
    }
    for answer in &legal {
        G::judge(&sight, question, answer)
            .map_err(|rule| format!("{answer:?} is offered as legal and refused: {rule}"))?;
        let read = G::read_answer(question, &written::<G>(answer));
        if read.as_ref() != Ok(answer) {
            return Err(format!("{answer:?} was written and read back as {read:?}"));
        }
    }
    let pick = dice.below(legal.len() as u32) as usize;
    Ok(PlayerReply::Answer(legal.swap_remove(pick)))
}

impl<G: Sight> DealProof<'_, G> {
    fn play(
        &self,
        ask: impl FnMut(&State<G>, Seat, G::Question) -> Result<PlayerReply<G::Answer>, String>,
    ) -> Result<Said<G>, String> {
        Self::play_from(self.beginning.clone(), &[], self.forfeit, ask)
    }

    /// Some seats leave before the first question.
    fn play_without(
        &self,
        absent: &[Seat],
        ask: impl FnMut(&State<G>, Seat, G::Question) -> Result<PlayerReply<G::Answer>, String>,
    ) -> Result<Said<G>, String> {
        Self::play_from(self.beginning.clone(), absent, self.forfeit, ask)
    }

    /// Plays until the game is over or a player stops it; after every call the
    /// fold of a seat's calls and answers must equal its observation.
    fn play_from(
        mut state: State<G>,
        absent: &[Seat],
        forfeit: WriteForfeit,
        mut ask: impl FnMut(&State<G>, Seat, G::Question) -> Result<PlayerReply<G::Answer>, String>,
    ) -> Result<Said<G>, String> {
        let mut telling = Telling::new(&state)?;
        telling.leave(&mut state, absent, forfeit)?;
        while telling.said.moves.len() < ENDLESS {
            match G::step(&mut state) {
                Step::Over(outcome) => {
                    check_outcome::<G>(&outcome)?;
                    return Ok(telling.said);
                }
                Step::Tell(audience, notice) => {
                    for seat in Seat::all(G::INFO.seats) {
                        if audience.includes(seat) && !telling.gone[seat] {
                            let mut call = Vec::new();
                            G::write_notice(&state.observe(seat), notice, &mut call);
                            telling.hear(&state, seat, None, call)?;
                        }
                    }
                }
                Step::Ask(asked) => {
                    if asked.is_empty() {
                        return Err("a step asks nobody".to_owned());
                    }
                    let again = G::step(&mut state);
                    if again != Step::Ask(asked.clone()) {
                        return Err(format!("{asked:?} became {again:?} without an answer"));
                    }
                    let mut answers = Vec::new();
                    let mut leaving = Vec::new();
                    for (seat, question) in asked {
                        if telling.gone[seat] {
                            return Err(format!("seat {seat} has left and is asked {question:?}"));
                        }
                        let mut call = Vec::new();
                        G::write_question(&state.observe(seat), question, &mut call);
                        telling.hear(&state, seat, Some(question), call)?;
                        match ask(&state, seat, question)? {
                            PlayerReply::Stop => return Ok(telling.said),
                            PlayerReply::Forfeit => {
                                telling.said.moves.push((seat, question, None));
                                leaving.push(seat);
                            }
                            PlayerReply::Answer(answer) => {
                                G::judge(&state.observe(seat), question, &answer)
                                    .map_err(|rule| format!("{answer:?} is refused: {rule}"))?;
                                telling.watchers[seat.index()].answered(&answer);
                                let said = (seat, question, Some(answer.clone()));
                                telling.said.moves.push(said);
                                answers.push((seat, answer));
                            }
                        }
                    }
                    telling.leave(&mut state, &leaving, forfeit)?;
                    if !answers.is_empty() {
                        G::resolve(&mut state, &answers);
                    }
                }
            }
        }
        Err("the game does not end".to_owned())
    }

    /// Deals again what a seat has not seen, plays the same answers, and checks that
    /// the seat is sent the same bytes.
    fn nothing_leaks(&self, said: &Said<G>, dice: &mut Dice) -> Result<(), String> {
        for watcher in Seat::all(G::INFO.seats) {
            let other = G::redeal(self.beginning, &said.answers(), watcher, dice);
            let mut scripts = Script::<G>::of(&said.moves);
            let again = Self::play_from(other, &[], self.forfeit, |_, seat, question| {
                Ok(match seat == watcher {
                    true => scripts[seat].same(question),
                    false => scripts[seat].similar(question),
                })
            })?;
            let sent = &said.calls[watcher];
            let sent_again = &again.calls[watcher];
            // The replay may stop one call earlier or later, because of the other
            // seats' script.
            let common = sent.len().min(sent_again.len());
            if sent.len().abs_diff(sent_again.len()) > 1 {
                return Err(format!(
                    "seat {watcher} was sent {} calls, and {} when the unseen was dealt again",
                    sent.len(),
                    sent_again.len()
                ));
            }
            if let Some(at) = (0..common).find(|&i| sent[i] != sent_again[i]) {
                return Err(format!(
                    "leak: call {at} to seat {watcher} is {:?}, and {:?} when the unseen was dealt again",
                    sent[at], sent_again[at]
                ));
            }
        }
        Ok(())
    }
}

fn check_outcome<G: Game>(outcome: &crate::Outcome<G::Ending>) -> Result<(), String> {
    let seats = G::INFO.seats;
    let words: Words = outcome.reason.clone().into();
    let good = outcome.places.seats() == seats
        && outcome.scores.seats() == seats
        && outcome
            .places
            .iter()
            .all(|(_, &place)| (1..=seats).contains(&place))
        && !words.english.is_empty()
        && !words.chinese.is_empty();
    if good {
        Ok(())
    } else {
        Err(format!("not an outcome for {seats} seats: {outcome:?}"))
    }
}
