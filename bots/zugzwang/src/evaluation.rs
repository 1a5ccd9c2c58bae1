//! The evaluation as the search uses it: what the windows are worth is kept up to date
//! with every stone, the rest is worked out where it is needed.

use crate::{
    board::{Geometry, Stones},
    idea::{ConnectFourIdea, ConnectFourIdeas},
    shape::BoardShape,
    terms::{Ground, Wins, is_zugzwang, pattern, windows},
    weights::{EvaluationWeights, Weight},
    word::Word,
};

/// No evaluation is further from 0 than this.
pub(crate) const LIMIT: i32 = 12_000;

/// States of a window: each of four cells is free, or has a stone of the even or the odd
/// side.
const STATES: usize = 81;
const PLACES: usize = 1 << 16;
/// More than a board has windows: a power of two.
const MOST_WINDOWS: usize = 512;
/// A cell is in at most so many windows.
const WINDOWS_OF_CELL: usize = 16;

/// The evaluation for one board.
pub(crate) struct BoardEvaluation<W, const S: u32> {
    pub(crate) ground: Ground<W, S>,
    weights: EvaluationWeights,
    /// [`STATES`] values for each kind of window, for the even side. Every number of 16
    /// bits has a place, so that none is checked.
    values: Box<[Weight; PLACES]>,
    /// The place in `values` of each window when it is free.
    vacant: Box<[u16; MOST_WINDOWS]>,
    /// The windows of each cell.
    of_cell: Vec<CellWindows>,
    without: ConnectFourIdeas,
    /// The share of the later weight in 1/256, by the number of stones.
    lateness: Vec<i32>,
}

#[derive(Clone, Copy)]
struct CellWindows {
    count: u8,
    /// Each window's number, and what a stone of the even side adds to its state.
    windows: [(u16, u8); WINDOWS_OF_CELL],
}

/// The state of every window, as where its value is.
#[derive(Clone)]
pub(crate) struct WindowStates(Box<[u16; MOST_WINDOWS]>);

impl<W: Word, const S: u32> BoardEvaluation<W, S> {
    pub(crate) fn new(
        shape: BoardShape,
        weights: &EvaluationWeights,
        without: ConnectFourIdeas,
    ) -> Self {
        let ground = Ground::<W, S>::new(shape);
        let mut evaluation = Self {
            weights: weights.clone(),
            without,
            values: vec![Weight::default(); PLACES]
                .try_into()
                .expect("the length is the same"),
            vacant: Box::new([0; MOST_WINDOWS]),
            of_cell: vec![
                CellWindows {
                    count: 0,
                    windows: [(0, 0); WINDOWS_OF_CELL],
                };
                W::BITS as usize
            ],
            lateness: (0..=shape.room())
                .map(|stones| (256 * stones / shape.room().max(1)) as i32)
                .collect(),
            ground,
        };
        let mut kinds = Vec::new();
        for (number, window) in windows(shape).into_iter().enumerate() {
            let indices = window.cells.map(Geometry::<W, S>::index);
            let owned = (0..4).fold(0, |owned, place| {
                let is_even = W::bit(indices[place]).meets(evaluation.ground.even_cells);
                owned | u8::from(is_even) << place
            });
            let value_of = |stones: u8, owned: u8| {
                if without.has(ConnectFourIdea::Evaluation) {
                    return Weight::default();
                }
                let term = pattern(window.direction, window.cells[0].row, owned, stones);
                weights.of(term)
            };
            // Windows of one kind have the same terms.
            let kind = (pattern(window.direction, window.cells[0].row, 0, 1), owned);
            let place = kinds.iter().position(|&known| known == kind);
            let place = place.unwrap_or_else(|| {
                kinds.push(kind);
                for state in 0..STATES {
                    let (even, odd) = stones_of(state);
                    evaluation.values[(kinds.len() - 1) * STATES + state] = match (even, odd) {
                        (0, 0) => Weight::default(),
                        (stones, 0) => value_of(stones, owned),
                        (0, stones) => value_of(stones, !owned & 15).negated(),
                        _ => Weight::default(),
                    };
                }
                kinds.len() - 1
            });
            evaluation.vacant[number] = (place * STATES) as u16;
            for (place, index) in indices.into_iter().enumerate() {
                let here = &mut evaluation.of_cell[index as usize];
                here.windows[usize::from(here.count)] = (number as u16, 3u8.pow(place as u32));
                here.count += 1;
            }
        }
        evaluation
    }

    /// The states of the windows of a position, and what they are worth for the even side.
    pub(crate) fn start(&self, board: Stones<W>) -> (WindowStates, Weight) {
        let mut states = WindowStates(self.vacant.clone());
        let mut value = Weight::default();
        let is_odd = board.stones() % 2 == 1;
        for (stones, odd) in [(board.own, is_odd), (board.other, !is_odd)] {
            for index in stones.bits() {
                value = value.plus(self.gain(&states, index, odd));
                self.place(&mut states, index, odd);
            }
        }
        (states, value)
    }

    #[inline]
    fn windows_of(&self, index: u32) -> &[(u16, u8)] {
        let here = &self.of_cell[index as usize];
        &here.windows[..usize::from(here.count)]
    }

    /// The gain of a stone here for the even side.
    #[inline]
    pub(crate) fn gain(&self, states: &WindowStates, index: u32, odd: bool) -> Weight {
        let times = 1 + u16::from(odd);
        let mut gain = Weight::default();
        for &(window, step) in self.windows_of(index) {
            let state = states.0[usize::from(window) % MOST_WINDOWS];
            let then = state + u16::from(step) * times;
            gain = gain
                .plus(self.values[usize::from(then)])
                .minus(self.values[usize::from(state)]);
        }
        gain
    }

    /// Puts a stone into its windows.
    #[inline]
    pub(crate) fn place(&self, states: &mut WindowStates, index: u32, odd: bool) {
        let times = 1 + u16::from(odd);
        for &(window, step) in self.windows_of(index) {
            states.0[usize::from(window) % MOST_WINDOWS] += u16::from(step) * times;
        }
    }

    /// Takes it out again.
    #[inline]
    pub(crate) fn remove(&self, states: &mut WindowStates, index: u32, odd: bool) {
        let times = 1 + u16::from(odd);
        for &(window, step) in self.windows_of(index) {
            states.0[usize::from(window) % MOST_WINDOWS] -= u16::from(step) * times;
        }
    }

    /// The value for the side to move, in 1/256 of the logarithm of its odds, where
    /// neither side can win with its next stone.
    #[inline]
    pub(crate) fn value(
        &self,
        board: Stones<W>,
        stones: u32,
        wins: Wins<W>,
        windows: Weight,
    ) -> i32 {
        let mut sum = if stones.is_multiple_of(2) {
            windows
        } else {
            windows.negated()
        };
        if self.without.has(ConnectFourIdea::Evaluation) {
            return 0;
        }
        self.ground.threats(board, stones, wins, |term, count| {
            if is_zugzwang(term) && self.without.has(ConnectFourIdea::Zugzwang) {
                return;
            }
            sum = sum.plus(self.weights.of(term).times(count));
        });
        let late = self.lateness[stones as usize];
        let value = (sum.early() * (256 - late) + sum.late() * late) >> 8;
        value.clamp(-LIMIT, LIMIT)
    }
}

/// The stones of the even and of the odd side in a window of this state, as bits.
fn stones_of(mut state: usize) -> (u8, u8) {
    let mut stones = (0, 0);
    for place in 0..4 {
        match state % 3 {
            1 => stones.0 |= 1 << place,
            2 => stones.1 |= 1 << place,
            _ => {}
        }
        state /= 3;
    }
    stones
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::ConnectFourPosition,
        shape::BoardCell,
        terms::{Wins, terms},
        word::U192,
        zobrist::scramble,
    };

    /// Positions of random games, and whether the next stone decides them.
    fn positions() -> Vec<ConnectFourPosition> {
        let mut positions = Vec::new();
        for number in 0..60 {
            let draw = |what: u64, most: u64| (scramble(number * 1000 + what) % most) as u8;
            let shape = BoardShape::new(
                9,
                9 + draw(1, 4),
                (number % 4 != 0).then(|| BoardCell {
                    column: draw(2, 9),
                    row: draw(3, 9),
                }),
            );
            let mut position = ConnectFourPosition::new(shape.unwrap());
            for ply in 0..30 + draw(4, 40) {
                let column = draw(10 + u64::from(ply), position.shape().columns().into());
                let before = position;
                if position.play(column).is_ok() && position.is_won() {
                    position = before;
                }
                positions.push(position);
            }
        }
        positions
    }

    fn value<W: Word, const S: u32>(
        position: &ConnectFourPosition,
        weights: &EvaluationWeights,
    ) -> Option<(i32, f32)> {
        let evaluation =
            BoardEvaluation::<W, S>::new(position.shape(), weights, ConnectFourIdeas::default());
        let board = position.board::<W, S>();
        let found = terms(&evaluation.ground, board)?;
        let geometry = &evaluation.ground.geometry;
        let taken = geometry.taken(board);
        let wins = Wins {
            own: geometry.wins(board.own, taken),
            other: geometry.wins(board.other, taken),
        };
        let (_, windows) = evaluation.start(board);
        let value = evaluation.value(board, board.stones(), wins, windows);
        let late = found.fullness;
        let sum = found.counts.iter().map(|&(term, count)| {
            let weight = weights.of(term);
            count * (weight.early() as f32 * (1.0 - late) + weight.late() as f32 * late)
        });
        Some((value, sum.sum()))
    }

    /// The value that is kept up to date with every stone is the sum that is learned, in both
    /// words.
    #[test]
    fn the_value_is_the_weighted_sum_of_the_terms() {
        let values: Vec<[f32; 2]> = (0..EvaluationWeights::TERMS as u64)
            .map(|term| [0, 1].map(|half| (scramble(2 * term + half) % 200) as f32 / 256.0 - 0.4))
            .collect();
        let weights = EvaluationWeights::from_values(&values);
        let mut compared = 0;
        for position in positions() {
            let Some((value, sum)) = value::<u128, 10>(&position, &weights) else {
                continue;
            };
            compared += 1;
            assert!((value as f32 - sum).abs() < 16.0, "{value}, not {sum}");
            let wide = self::value::<U192, 13>(&position, &weights);
            assert_eq!(wide, Some((value, sum)));
        }
        assert!(compared > 500, "{compared}");
    }
}
