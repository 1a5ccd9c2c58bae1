//! Value of a position of a finished game, with all hands open: a search by playouts alone. No bot
//! may use it, since it sees what no seat does.

use arena_events::replay::ExpectedScore;
use arena_ladder::HalfPoints;
use referee_core::{Dice, Outcome, PerSeat, Seat, Table};

/// Weight of exploration in a search: mean + [`EXPLORATION`] · sqrt(2 ln N / n), the rule UCB1 with
/// rewards of 0 to 1 (Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006).
const EXPLORATION: f64 = 0.35;

/// Number of searches that an estimate is made of. They are independent of each other, so their
/// spread gives the standard error of their mean.
pub const SEARCHES: u32 = 8;

/// An act of a seat that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It gives this answer of those that are legal, from 0.
    Answers(usize),
    /// It leaves the game by a foul.
    Fouls,
}

/// One upper-confidence tree over the choices from one position. Every seat goes
/// for its own share; nothing is hidden from anybody.
struct TreeSearch {
    /// The first is the root.
    nodes: Vec<SearchNode>,
}

/// A position that was reached.
#[derive(Default)]
struct SearchNode {
    visits: u32,
    /// Of the seat that chose to come here.
    sum: f64,
    /// By choice, where it was tried: the node.
    children: Vec<Option<usize>>,
    tried: usize,
}

/// The score that `seat` can expect where it does this when it is asked: each of [`SEARCHES`]
/// searches makes so many playouts, and the later half of them counts, when it knows what is good.
pub(crate) fn estimate(
    table: &dyn Table,
    seat: Seat,
    deed: Deed,
    playouts: u32,
    dice: &mut Dice,
) -> ExpectedScore {
    let forced = Some((seat, deed));
    let means = (0..SEARCHES).map(|_| search(table, forced, playouts, dice));
    mean_and_error(&means.collect::<Vec<_>>())[seat]
}

/// The mean shares of all seats in one search of so many playouts, of which the later half counts,
/// when it knows what is good.
pub(crate) fn search(
    table: &dyn Table,
    forced: Option<(Seat, Deed)>,
    playouts: u32,
    dice: &mut Dice,
) -> PerSeat<f64> {
    let mut search = TreeSearch::new();
    for _ in 0..playouts / 2 {
        search.playout(table, forced, dice);
    }
    let counted = playouts - playouts / 2;
    let mut sums = PerSeat::new(table.info().seats, |_| 0.0);
    for _ in 0..counted {
        let outcome = search.playout(table, forced, dice);
        for (seat, sum) in sums.iter_mut() {
            *sum += share(&outcome, seat);
        }
    }
    for (_, sum) in sums.iter_mut() {
        *sum /= f64::from(counted);
    }
    sums
}

/// The mean of independent searches and its standard error, for each seat.
pub(crate) fn mean_and_error(searches: &[PerSeat<f64>]) -> PerSeat<ExpectedScore> {
    let count = searches.len() as f64;
    PerSeat::new(searches[0].seats(), |seat| {
        let score = searches.iter().map(|one| one[seat]).sum::<f64>() / count;
        let squares: f64 = (searches.iter())
            .map(|one| (one[seat] - score).powi(2))
            .sum();
        ExpectedScore {
            score,
            error: (squares / (count - 1.0) / count).sqrt(),
        }
    })
}

/// The answer that `seat` should give to the question that it has been asked, of
/// `legal`: the one that a search of so many playouts tries most.
pub(crate) fn best(
    table: &dyn Table,
    seat: Seat,
    legal: usize,
    playouts: u32,
    dice: &mut Dice,
) -> usize {
    let mut search = TreeSearch::new();
    // The root is the question of this seat, whoever else is asked with it.
    let mut values = vec![(0_u32, 0.0); legal];
    for done in 0..playouts.max(legal as u32) {
        let pick = match values.iter().position(|(visits, _)| *visits == 0) {
            Some(untried) => untried,
            None => most(values.iter().map(|&(visits, sum)| upper(sum, visits, done))),
        };
        let forced = Some((seat, Deed::Answers(pick)));
        let outcome = search.playout(table, forced, dice);
        values[pick].0 += 1;
        values[pick].1 += share(&outcome, seat);
    }
    most(values.iter().map(|(visits, _)| f64::from(*visits)))
}

impl TreeSearch {
    fn new() -> Self {
        Self {
            nodes: vec![SearchNode::default()],
        }
    }

    /// One playout: down the tree as far as it goes, one node further, and at random
    /// to the end.
    fn playout(
        &mut self,
        table: &dyn Table,
        forced: Option<(Seat, Deed)>,
        dice: &mut Dice,
    ) -> Outcome {
        let mut game = table.fork();
        let mut forced = forced;
        if let Some((seat, Deed::Fouls)) = forced {
            game.forfeit(seat);
            forced = None;
        }
        let mut path: Vec<(usize, Seat)> = Vec::new();
        let mut at = Some(0);
        let outcome = game.play_out(&mut |seat, legal| {
            if let Some((mover, Deed::Answers(answer))) = forced
                && mover == seat
            {
                forced = None;
                at = at.map(|node| self.step(node, answer, legal));
                path.extend(at.map(|node| (node, seat)));
                return answer;
            }
            let Some(node) = at else {
                return dice.below(legal as u32) as usize;
            };
            let choice = self.choose(node, legal, dice);
            let known = self.nodes[node].children[choice].is_some();
            let next = self.step(node, choice, legal);
            path.push((next, seat));
            at = known.then_some(next);
            choice
        });
        self.nodes[0].visits += 1;
        for (node, seat) in path {
            let node = &mut self.nodes[node];
            node.visits += 1;
            node.sum += share(&outcome, seat);
        }
        outcome
    }

    fn choose(&mut self, node: usize, legal: usize, dice: &mut Dice) -> usize {
        let asked = self.room(node, legal);
        let untried = legal - asked.tried;
        if untried > 0 {
            let nth = dice.below(untried as u32) as usize;
            let mut open = (0..legal).filter(|&choice| asked.children[choice].is_none());
            return open.nth(nth).unwrap_or_default();
        }
        let node = &self.nodes[node];
        most(node.children.iter().map(|child| {
            child.map_or(0.0, |child| {
                let child = &self.nodes[child];
                upper(child.sum, child.visits, node.visits)
            })
        }))
    }

    /// The node that this choice leads to.
    fn step(&mut self, node: usize, choice: usize, legal: usize) -> usize {
        let next = self.nodes.len();
        let node = self.room(node, legal);
        if let Some(known) = node.children[choice] {
            return known;
        }
        node.children[choice] = Some(next);
        node.tried += 1;
        self.nodes.push(SearchNode::default());
        next
    }

    fn room(&mut self, node: usize, legal: usize) -> &mut SearchNode {
        let node = &mut self.nodes[node];
        if node.children.is_empty() {
            node.children.resize(legal, None);
        }
        node
    }
}

/// The upper end of what a choice may be worth that was made `n` times of `of`.
fn upper(sum: f64, n: u32, of: u32) -> f64 {
    let (n, of) = (f64::from(n.max(1)), f64::from(of.max(1)));
    sum / n + EXPLORATION * (2.0 * of.ln() / n).sqrt()
}

/// Index of the largest value; the first of equals.
fn most(values: impl Iterator<Item = f64>) -> usize {
    let mut most = (0, f64::NEG_INFINITY);
    for (at, value) in values.enumerate() {
        if value > most.1 {
            most = (at, value);
        }
    }
    most.0
}

/// A seat's share of the points that one seat can have in a game.
pub(crate) fn share(outcome: &Outcome, seat: Seat) -> f64 {
    let places = outcome.places.as_slice();
    let points = HalfPoints::of_places(places);
    let most = places.len().saturating_sub(1).max(1) as f64;
    points.get(seat.index()).map_or(0.0, |half| half.points()) / most
}

#[cfg(test)]
mod tests {
    use referee_core::{Root, TableStep};
    use referee_games::game;

    use super::*;

    /// Connect Four after these columns were played, one seat after the other.
    fn after(columns: &[usize]) -> Box<dyn Table> {
        let kind = game("connect_four").unwrap();
        let root: Root = "search".parse().unwrap();
        // 7 columns, 6 rows, and a corner of no use to anybody is forbidden.
        let setup = serde_json::json!({
            "rows": 9, "columns": 9, "forbidden": {"at": {"x": 0, "y": 8}},
        });
        let mut table = kind.deal(&setup, &root.seed("connect_four", 0)).unwrap();
        let mut columns = columns.iter();
        loop {
            let asked = match table.step() {
                TableStep::Tell(_) => continue,
                TableStep::Ask(seats) => seats[0],
                TableStep::Over(outcome) => panic!("it is over: {outcome:?}"),
            };
            let Some(&column) = columns.next() else {
                return table;
            };
            let (_, answer) = table.legal(asked).swap_remove(column);
            table.answer(asked, &answer).unwrap();
            table.resolve();
        }
    }

    fn dice() -> Dice {
        let root: Root = "search".parse().unwrap();
        Dice::new(&root.seed("search", 0))
    }

    /// Three stones of seat 0 lie one on the other: seat 1 must stop the fourth.
    #[test]
    fn a_move_that_does_not_stop_a_four_is_worth_little() {
        let table = after(&[4, 0, 4, 1, 4]);
        let seat = Seat::new(1);
        let worth = |answer| estimate(&*table, seat, Deed::Answers(answer), 400, &mut dice());
        let (stopped, let_go) = (worth(4), worth(8));
        assert!(stopped.score > 0.3, "{stopped:?}");
        assert!(let_go.score < 0.1, "{let_go:?}");
        assert_eq!(best(&*table, seat, 9, 1000, &mut dice()), 4);
    }

    #[test]
    fn a_move_that_wins_is_worth_everything_and_no_error() {
        let table = after(&[4, 0, 4, 1, 4, 2]);
        let seat = Seat::new(0);
        let won = estimate(&*table, seat, Deed::Answers(4), 50, &mut dice());
        assert_eq!((won.score, won.error), (1.0, 0.0));
        assert_eq!(best(&*table, seat, 9, 300, &mut dice()), 4);
        let fouled = estimate(&*table, seat, Deed::Fouls, 50, &mut dice());
        assert_eq!((fouled.score, fouled.error), (0.0, 0.0));
    }

    /// The score of `seat` where both play as well as can be, by trying everything.
    fn solved(table: &dyn Table, seat: Seat) -> f64 {
        let mut table = table.fork();
        let asked = match table.step() {
            TableStep::Tell(_) => return solved(&*table, seat),
            TableStep::Ask(seats) => seats[0],
            TableStep::Over(outcome) => return share(&outcome, seat),
        };
        let values = (0..table.legal(asked).len()).map(|answer| {
            let value = solved_after(&*table, asked, answer, seat);
            if asked == seat { value } else { -value }
        });
        let best = values.fold(f64::NEG_INFINITY, f64::max);
        if asked == seat { best } else { -best }
    }

    fn solved_after(table: &dyn Table, asked: Seat, answer: usize, seat: Seat) -> f64 {
        let mut table = table.fork();
        let (_, answer) = table.legal(asked).swap_remove(answer);
        table.answer(asked, &answer).unwrap();
        table.resolve();
        solved(&*table, seat)
    }

    /// The ends of random games of Othello, against trying everything.
    #[test]
    fn an_end_is_worth_what_it_is_worth_when_everything_is_tried() {
        let kind = game("othello").unwrap();
        let mut uneven = 0;
        for number in 0..20 {
            let root: Root = "ends".parse().unwrap();
            let seed = root.seed("othello", number);
            let mut table = kind.deal(&serde_json::Value::Null, &seed).unwrap();
            let mut dice = Dice::new(&seed);
            let mut questions = Vec::new();
            loop {
                let seat = match table.step() {
                    TableStep::Tell(_) => continue,
                    TableStep::Ask(seats) => seats[0],
                    TableStep::Over(_) => break,
                };
                let mut legal = table.legal(seat);
                questions.push((table.fork(), seat, legal.len()));
                let pick = dice.below(legal.len() as u32) as usize;
                table.answer(seat, &legal.swap_remove(pick).1).unwrap();
                table.resolve();
            }
            let (table, seat, legal) = questions.swap_remove(questions.len() - 6);
            let values: Vec<f64> = (0..legal)
                .map(|answer| solved_after(&*table, seat, answer, seat))
                .collect();
            for (answer, value) in values.iter().enumerate() {
                let does = Deed::Answers(answer);
                let found = estimate(&*table, seat, does, 2000, &mut dice);
                assert!((found.score - value).abs() < 0.1, "{found:?}, not {value}");
            }
            let worth = values.iter().copied().fold(0.0, f64::max);
            uneven += u32::from(values.iter().any(|value| *value < worth));
            let found = best(&*table, seat, legal, 4000, &mut dice);
            assert!(
                (values[found] - worth).abs() < 1e-9,
                "{found} of {values:?}"
            );
        }
        assert!(uneven > 2, "{uneven}: there must be something to find");
    }

    #[test]
    fn a_share_is_of_the_points_of_the_first_place() {
        let of = |places: &[u8]| -> Vec<f64> {
            let outcome = Outcome {
                places: places.to_vec().into(),
                scores: vec![0; places.len()].into(),
                reason: String::new(),
            };
            let seats = Seat::all(places.len() as u8);
            seats.map(|seat| share(&outcome, seat)).collect()
        };
        assert_eq!(of(&[1, 2]), [1.0, 0.0]);
        assert_eq!(of(&[1, 1]), [0.5, 0.5]);
        assert_eq!(of(&[2, 2]), [0.0, 0.0]);
        assert_eq!(of(&[3, 1, 4, 2]), [1.0 / 3.0, 1.0, 0.0, 2.0 / 3.0]);
    }
}
