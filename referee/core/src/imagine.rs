//! A game in progress as one seat may imagine it: everything that the seat has not seen is dealt
//! again, and all seats answer again what they answered, as far as they can.

use std::collections::VecDeque;

use crate::{Dice, Game, PerSeat, Seat, Seed, State, Step, Wire};

/// An earlier answer of a seat, or that it left the game instead.
#[derive(Clone, Copy, Debug)]
pub struct PastAnswer<'a> {
    /// The seat.
    pub seat: Seat,
    /// Its message; none where it left the game instead.
    pub answer: Option<&'a [u8]>,
}

/// The reply of a player to a question.
pub(crate) enum PlayerReply<A> {
    Answer(A),
    Forfeit,
    Stop,
}

/// A question to a seat and its answer; `None` where the seat left.
type AnsweredQuestion<G> = (Seat, <G as Game>::Question, Option<<G as Game>::Answer>);

/// The answers of a seat in one deal, to be given again in another; `None` where it left.
pub(crate) struct Script<G: Game>(VecDeque<(G::Question, Option<G::Answer>)>);

impl<G: Game> Script<G> {
    /// The part of each seat.
    pub(crate) fn of(moves: &[AnsweredQuestion<G>]) -> PerSeat<Self> {
        let mut scripts = PerSeat::new(G::INFO.seats, |_| Self(VecDeque::new()));
        for (seat, question, answer) in moves {
            scripts[*seat].0.push_back((*question, answer.clone()));
        }
        scripts
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// The next answer of a seat that sees the same in both deals.
    pub(crate) fn same(&mut self, question: G::Question) -> PlayerReply<G::Answer> {
        match self.0.front() {
            Some((scripted, _)) if *scripted == question => self.next(),
            _ => PlayerReply::Stop,
        }
    }

    /// The next answer of another seat.
    pub(crate) fn similar(&mut self, question: G::Question) -> PlayerReply<G::Answer> {
        // A claim that was offered in one deal may not be offered in the other.
        while let Some((scripted, answer)) = self.0.front() {
            if *scripted == question || answer.is_none() || G::decline(*scripted) != *answer {
                break;
            }
            self.0.pop_front();
        }
        match self.0.front() {
            // A seat may leave at any question.
            Some((scripted, answer)) if *scripted == question || answer.is_none() => self.next(),
            _ => G::decline(question).map_or(PlayerReply::Stop, PlayerReply::Answer),
        }
    }

    fn next(&mut self) -> PlayerReply<G::Answer> {
        match self.0.pop_front() {
            Some((_, Some(answer))) => PlayerReply::Answer(answer),
            Some((_, None)) => PlayerReply::Forfeit,
            None => PlayerReply::Stop,
        }
    }
}

/// A game that waits for answers, and who is asked what.
pub(crate) type WaitingGame<G> = (State<G>, Vec<(Seat, <G as Game>::Question)>);

/// The game of this deal after `past`, as `seat` may imagine it: it is asked the same as in the
/// game itself and knows the same. `absent` left before the first question. None where the new
/// deal does not lead there, or where the seat is not asked.
pub(crate) fn imagined<G: Wire>(
    setup: &G::Setup,
    seed: &Seed,
    absent: &[Seat],
    past: &[PastAnswer<'_>],
    seat: Seat,
    dice: &mut Dice,
) -> Option<WaitingGame<G>> {
    let beginning = G::deal(setup, &mut Dice::new(seed));
    let mut given = PerSeat::new(G::INFO.seats, |_| VecDeque::new());
    for one in past {
        given[one.seat].push_back(one.answer);
    }
    let so_far = play::<G>(beginning.clone(), absent, |by, question| {
        match given[by].pop_front() {
            None => PlayerReply::Stop,
            Some(None) => PlayerReply::Forfeit,
            Some(Some(bytes)) => {
                G::read_answer(question, bytes).map_or(PlayerReply::Stop, PlayerReply::Answer)
            }
        }
    })?;
    let moves = so_far.moves;
    let open = so_far.asked.into_iter().find(|(by, _)| *by == seat)?;
    let answers: Vec<_> = moves
        .iter()
        .filter_map(|(by, question, answer)| Some((*by, *question, answer.clone()?)))
        .collect();
    let again = G::redeal(&beginning, &answers, seat, dice);
    let mut scripts = Script::<G>::of(&moves);
    let there = play::<G>(again, absent, |by, question| match by == seat {
        true => scripts[by].same(question),
        false => scripts[by].similar(question),
    })?;
    let is_there = scripts[seat].is_over() && there.asked.contains(&open);
    is_there.then_some((there.state, there.asked))
}

/// A game in which somebody has not answered.
struct Stopped<G: Game> {
    state: State<G>,
    asked: Vec<(Seat, G::Question)>,
    /// The answers of the rounds before; `None` where a seat left.
    moves: Vec<AnsweredQuestion<G>>,
}

/// Plays until somebody stops. None where the game ends before, or an answer is refused.
fn play<G: Game>(
    mut state: State<G>,
    absent: &[Seat],
    mut reply: impl FnMut(Seat, G::Question) -> PlayerReply<G::Answer>,
) -> Option<Stopped<G>> {
    let mut moves = Vec::new();
    for &seat in absent {
        G::forfeit(&mut state, seat);
    }
    loop {
        let asked = match G::step(&mut state) {
            Step::Tell(..) => continue,
            Step::Over(_) => return None,
            Step::Ask(asked) => asked,
        };
        let mut round: Vec<AnsweredQuestion<G>> = Vec::new();
        let mut has_stopped = false;
        for &(seat, question) in &asked {
            match reply(seat, question) {
                PlayerReply::Stop => has_stopped = true,
                PlayerReply::Forfeit => round.push((seat, question, None)),
                PlayerReply::Answer(answer) => {
                    G::judge(&state.observe(seat), question, &answer).ok()?;
                    round.push((seat, question, Some(answer)));
                }
            }
        }
        if has_stopped {
            return Some(Stopped {
                state,
                asked,
                moves,
            });
        }
        let mut answers = Vec::new();
        for (seat, _, answer) in &round {
            match answer {
                Some(answer) => answers.push((*seat, answer.clone())),
                None => drop(G::forfeit(&mut state, *seat)),
            }
        }
        moves.extend(round);
        if !answers.is_empty() {
            answers.sort_by_key(|(seat, _)| *seat);
            G::resolve(&mut state, &answers);
        }
    }
}
