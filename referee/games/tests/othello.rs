//! Othello against counts and statistics that were not made here.

use std::thread;

use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use referee_games::othello::{BLACK, Board, Position, squares_of};

/// Lines of 1 to 12 plies from the beginning; a pass is a ply of its own.
const PERFT: [u64; 12] = [
    4,
    12,
    56,
    244,
    1396,
    8200,
    55092,
    390_216,
    3_005_288,
    24_571_284,
    212_258_800,
    1_939_886_636,
];

#[test]
fn perft_from_the_beginning() {
    for (plies, expected) in (1..=10).zip(PERFT) {
        assert_eq!(Board::BEGINNING.perft(plies), expected, "{plies} plies");
    }
}

#[test]
#[ignore = "takes ten seconds"]
fn deep_perft_from_the_beginning() {
    for plies in [11, 12] {
        let expected = PERFT[plies as usize - 1];
        assert_eq!(Board::BEGINNING.perft(plies), expected, "{plies} plies");
    }
}

/// A figure of every game, summed with its squares.
#[derive(Clone, Copy, Default)]
struct Figure {
    sum: f64,
    squares: f64,
}

impl Figure {
    fn count(&mut self, value: f64) {
        self.sum += value;
        self.squares += value * value;
    }

    fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.squares += other.squares;
    }

    fn mean(self) -> f64 {
        self.sum / GAMES as f64
    }

    fn deviation(self) -> f64 {
        (self.squares / GAMES as f64 - self.mean().powi(2)).sqrt()
    }
}

/// What other people found in ten million random games, to so many digits.
const LEGAL_MOVES: f64 = 8.538;

/// Of each game: win, loss and draw of the first player, discs placed, passes,
/// its disc difference, full board, wipe-out, and its legal moves over
/// [`LEGAL_MOVES`] a move.
fn random_game(rng: &mut SmallRng) -> [f64; 9] {
    let mut position = Position::BEGINNING;
    let (mut placed, mut passes, mut choices) = (0, 0, 0);
    loop {
        let moves = position.board.moves();
        if moves != 0 {
            let pick = rng.random_range(0..moves.count_ones());
            let square = squares_of(moves).nth(pick as usize).expect("a legal move");
            position = position.play(square);
            placed += 1;
            choices += moves.count_ones();
        } else if position.must_pass() {
            position = position.pass();
            passes += 1;
        } else {
            break;
        }
    }
    let board = position.board_of(BLACK);
    let difference = board.difference();
    let share = |yes: bool| f64::from(u8::from(yes));
    [
        share(difference > 0),
        share(difference < 0),
        share(difference == 0),
        f64::from(placed),
        f64::from(passes),
        f64::from(difference),
        share(board.empty() == 0),
        share(board.own == 0 || board.opponent == 0),
        f64::from(choices) - LEGAL_MOVES * f64::from(placed),
    ]
}

const GAMES: u64 = 1_000_000;
const THREADS: u64 = 2;

/// Ten million games of another program printed these figures; ours lie within
/// four standard errors of a million games, and half of the last digit.
#[test]
fn a_million_random_games_look_as_they_do_elsewhere() {
    let games: Vec<_> = (0..THREADS)
        .map(|seed| {
            thread::spawn(move || {
                let mut rng = SmallRng::seed_from_u64(seed);
                let mut figures = [Figure::default(); 9];
                for _ in 0..GAMES / THREADS {
                    for (figure, value) in figures.iter_mut().zip(random_game(&mut rng)) {
                        figure.count(value);
                    }
                }
                figures
            })
        })
        .collect();
    let mut figures = [Figure::default(); 9];
    for games in games {
        for (figure, more) in figures.iter_mut().zip(games.join().unwrap()) {
            figure.add(more);
        }
    }
    let root = (GAMES as f64).sqrt();
    for (figure, (what, expected, digit)) in figures.into_iter().zip([
        ("wins", 0.45388, 1e-5),
        ("losses", 0.50440, 1e-5),
        ("draws", 0.04172, 1e-5),
        ("discs placed", 59.966, 1e-3),
        ("passes", 0.446, 1e-3),
        ("disc difference", -0.889, 1e-3),
        ("full boards", 0.9904, 1e-4),
        ("wipe-outs", 0.00052, 1e-5),
        // Zero over the 60 moves of a game, if a move has as many as expected.
        ("legal moves a game", 0.0, 60.0 * 1e-3),
    ]) {
        let bound = 4.0 * figure.deviation() / root + digit / 2.0;
        let found = figure.mean();
        assert!(
            (found - expected).abs() < bound,
            "{what}: found {found}, expected {expected} within {bound}"
        );
    }
    // The standard error of a deviation, where the tails are those of a normal
    // distribution: itself over the root of twice the games.
    let deviation = figures[5].deviation();
    let bound = 4.0 * 18.2 / (2.0_f64.sqrt() * root) + 0.0005;
    assert!(
        (deviation - 18.200).abs() < bound,
        "deviation of the disc difference: found {deviation}, expected 18.200 within {bound}"
    );
}

/// The best disc difference for the side to move, the empty squares to the
/// winner: plain alpha-beta, the moves first that leave the other side fewest.
fn solve(board: Board, mut alpha: i32, beta: i32) -> i32 {
    let moves = board.moves();
    if moves == 0 {
        return if board.pass().moves() == 0 {
            board.tournament_difference()
        } else {
            -solve(board.pass(), -beta, -alpha)
        };
    }
    let mut next: Vec<Board> = squares_of(moves).map(|square| board.play(square)).collect();
    next.sort_by_key(|next| next.moves().count_ones());
    for next in next {
        alpha = alpha.max(-solve(next, -beta, -alpha));
        if alpha >= beta {
            break;
        }
    }
    alpha
}

fn solved(position: &str) -> Vec<(String, i32)> {
    let position: Position = position.parse().expect("a position");
    let mut values: Vec<_> = squares_of(position.board.moves())
        .map(|square| {
            (
                square.to_string(),
                -solve(position.play(square).board, -64, 64),
            )
        })
        .collect();
    values.sort_by_key(|(_, value)| -value);
    values
}

#[test]
fn an_endgame_of_6_empty_squares() {
    let values = solved("XXXOXXXXOXXXXXXXOOXXXXXXOOOXXXXXOOOXXOO-OOOOO---OOOOOOO-OOOOOOO- X");
    let expected = [("h5", 6), ("g6", -2), ("f6", -4), ("h6", -10)];
    assert_eq!(
        values,
        expected.map(|(square, value)| (square.to_owned(), value))
    );
}

#[test]
fn an_endgame_of_14_empty_squares() {
    let values = solved("--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X");
    assert_eq!(values[0], ("g8".to_owned(), 18));
    assert!(values[1].1 < 18, "{values:?}");
}
