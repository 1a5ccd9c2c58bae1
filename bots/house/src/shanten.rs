//! `shanten`: the shortest way to any win in Mahjong. It keeps the hand that is
//! nearest to winning, among equals the one that most unseen tiles bring nearer,
//! then discards the largest tile, and accepts every win.

use bot_kit::{Bot, Thinker, Turn};
use referee_games::mahjong::{
    Answer, COPIES, Goal, Hand, KINDS, Mahjong, Public, Question, Tile, prepare,
};

use crate::{HouseBot, Parameters, PlayedGames, SpecError};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "shanten",
    summary: "keeps the hand that is nearest to winning and accepts every win",
    games: PlayedGames::These(&["mahjong"]),
    parameters: &[],
    shows: &["shanten"],
    build,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape of every house bot")]
fn build(_: &Parameters) -> Result<Bot, SpecError> {
    // Neither the time nor the memory of it is a game's.
    prepare();
    Ok(crate::quick(BOT.name).thinks::<Mahjong, _>(|_| ShantenBot))
}

struct ShantenBot;

impl Thinker<Mahjong> for ShantenBot {
    fn answer(&mut self, turn: &Turn<'_, Mahjong>) -> Answer {
        match turn.question {
            Question::Discard => {
                let view = turn.view();
                Answer::Discard(discard(&view.public, &view.private.all()))
            }
            Question::Win { .. } => Answer::Win,
        }
    }
}

/// The discard of a hand of 14.
fn discard(public: &Public, hand: &Hand) -> Tile {
    let goal = Goal::new(public.missing_suit);
    let unseen = unseen(public, hand);
    let without = |tile| hand.without(tile);
    let nearest = hand.kinds().map(|tile| goal.distance(&without(tile))).min();
    hand.kinds()
        .filter(|&tile| Some(goal.distance(&without(tile))) == nearest)
        .max_by_key(|&tile| {
            let accepted = goal.accepts(&without(tile));
            let copies = accepted.iter().map(|tile| u32::from(unseen[tile.index()]));
            // The last of equals is the largest tile.
            copies.sum::<u32>()
        })
        .expect("a hand has tiles")
}

/// By kind: how many are neither in the hand nor in a river.
fn unseen(public: &Public, hand: &Hand) -> [u8; KINDS] {
    let mut unseen = [COPIES; KINDS];
    let rivers = public.rivers.iter().flatten().copied();
    for tile in hand.tiles().chain(rivers) {
        let left = &mut unseen[tile.index()];
        *left = left.saturating_sub(1);
    }
    unseen
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;
    use referee_core::{Dice, Game as _, Root, Seat, Step};
    use referee_games::mahjong::{MissingSuit, Setup, WALL, parse, print};

    use super::*;
    use crate::simple::Simple;

    fn discards(hand: &str, rivers: [&str; 2]) -> String {
        let mut public = Public::beginning(MissingSuit::Required, WALL);
        public.rivers = rivers.map(|river| parse(river).unwrap());
        let hand = Hand::of(&parse(hand).unwrap()).unwrap();
        print(&[discard(&public, &hand)])
    }

    #[test]
    fn it_keeps_the_wait_that_has_most_tiles() {
        // Without the third 1c it waits for 4b and 7b.
        assert_eq!(discards("1c99c123456c123c56b", ["", ""]), "1c");
        // It waits for a second 4c or 9c, three of each, so the larger one goes.
        assert_eq!(discards("4c9c111222333b777b", ["", ""]), "9c");
        // Two of the 4c lie in the rivers.
        assert_eq!(discards("4c9c111222333b777b", ["4c", "4c"]), "4c");
    }

    /// The arcade case: seat 0 against `simple`.
    #[test]
    fn it_scores_about_51_a_round_in_the_arcade_case() {
        let root: Root = "shanten".parse().unwrap();
        let rounds = 1000;
        let scores: Vec<f64> = (0..rounds)
            .map(|round| arcade(&root, round).into())
            .collect();
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let squares = scores.iter().map(|score| (score - mean).powi(2));
        let error = squares.sum::<f64>().sqrt() / scores.len() as f64;
        println!("{mean:.2} a round, standard error {error:.2}");
        assert!((48.0..54.0).contains(&mean), "{mean} ± {error}");
    }

    fn arcade(root: &Root, round: u64) -> i32 {
        let seed = root.seed("mahjong", round);
        let mut state = Mahjong::deal(&Setup::default(), &mut Dice::new(&seed));
        let mut simple = Simple(ChaCha8Rng::seed_from_u64(seed.for_bot(Seat::new(1))));
        loop {
            let (seat, question) = match Mahjong::step(&mut state) {
                Step::Tell(..) => continue,
                Step::Ask(asked) => asked[0],
                Step::Over(outcome) => return outcome.scores[Seat::new(0)],
            };
            let hand = state.private[seat].all();
            let answer = match (seat.index(), question) {
                (0, Question::Discard) => Answer::Discard(discard(&state.public, &hand)),
                (0, Question::Win { .. }) => Answer::Win,
                (_, Question::Discard) => Answer::Discard(simple.discard(&hand)),
                (_, Question::Win { .. }) => Answer::Pass,
            };
            Mahjong::resolve(&mut state, &[(seat, answer)]);
        }
    }
}
