//! A new deal of what a seat has not seen, for the test that no secret leaks.

use referee_core::{Dice, Game as _, Seat, State, Step};

use super::{
    rules::{Answer, Mahjong, Question},
    setup::DEALT,
    tile::{TILES, Tile},
};

/// Another wall by which `seat` is dealt and draws the same, and by which the
/// other can discard, and win with, what it did.
pub(super) fn redeal(
    beginning: &State<Mahjong>,
    answers: &[(Seat, Question, Answer)],
    seat: Seat,
    dice: &mut Dice,
) -> State<Mahjong> {
    let other = seat.other();
    let end = replay(beginning, answers);
    let drawn = TILES - end.hidden.wall.len();
    let before: Vec<Tile> = beginning.hidden.wall.iter().rev().copied().collect();
    let mut unseen = before.clone();
    let mut again: Vec<Option<Tile>> = vec![None; TILES];
    let mut place = |again: &mut Vec<Option<Tile>>, at: usize, tile: Tile| {
        if let Some(found) = unseen.iter().position(|&held| held == tile) {
            unseen.swap_remove(found);
            again[at] = Some(tile);
        }
    };
    for at in draws_of(seat, drawn) {
        place(&mut again, at, before[at]);
    }
    // Each discard came with any of the draws up to then.
    let theirs: Vec<usize> = draws_of(other, drawn).collect();
    let mut kept: Vec<Tile> = theirs.iter().map(|&at| before[at]).collect();
    let mut draws = DEALT;
    for tile in answers.iter().filter_map(|&(by, _, answer)| match answer {
        Answer::Discard(tile) if by == other => Some(tile),
        _ => None,
    }) {
        draws += 1;
        let open: Vec<usize> = theirs[..draws.min(theirs.len())]
            .iter()
            .copied()
            .filter(|&at| again[at].is_none())
            .collect();
        place(
            &mut again,
            open[dice.below(open.len() as u32) as usize],
            tile,
        );
        if let Some(found) = kept.iter().position(|&held| held == tile) {
            kept.remove(found);
        }
    }
    // A hand that was won with is shown; it may have been dealt otherwise.
    if let Some(won) = end.public.won.filter(|won| won.seat == other) {
        let mut open: Vec<usize> = theirs
            .into_iter()
            .filter(|&at| again[at].is_none())
            .collect();
        dice.shuffle(&mut kept);
        if won.self_draw
            && let Some(at) = kept.iter().position(|&tile| tile == won.tile)
        {
            let last = kept.len() - 1;
            kept.swap(at, last);
            open.sort_unstable();
        }
        for (at, tile) in open.into_iter().zip(kept) {
            place(&mut again, at, tile);
        }
    }
    dice.shuffle(&mut unseen);
    let mut state = beginning.clone();
    state.hidden.wall = again
        .into_iter()
        .map(|tile| tile.or_else(|| unseen.pop()).expect("as many as there are"))
        .rev()
        .collect();
    state
}

/// Those of so many draws, counted from the first tile dealt, that are a seat's.
fn draws_of(seat: Seat, drawn: usize) -> impl Iterator<Item = usize> {
    (0..drawn).filter(move |&at| {
        let by = if at < 2 * DEALT { at / DEALT } else { at % 2 };
        by == seat.index()
    })
}

/// The game when these answers have been given and the next is asked for.
fn replay(beginning: &State<Mahjong>, answers: &[(Seat, Question, Answer)]) -> State<Mahjong> {
    let mut state = beginning.clone();
    let mut answers = answers.iter();
    loop {
        match Mahjong::step(&mut state) {
            Step::Tell(..) => {}
            Step::Over(_) => return state,
            Step::Ask(_) => match answers.next() {
                Some(&(seat, _, answer)) => Mahjong::resolve(&mut state, &[(seat, answer)]),
                None => return state,
            },
        }
    }
}
