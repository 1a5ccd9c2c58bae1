//! The solver against plain minimax and against figures that others found.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use edge::{
    Discs, Exactness, OthelloEngine, OthelloEngineOptions, OthelloIdea, OthelloSearchResult,
    SearchLimit, Solution, Squares,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use strum::VariantNames as _;

const SIX_EMPTIES: &str = "XXXOXXXXOXXXXXXXOOXXXXXXOOOXXXXXOOOXXOO-OOOOO---OOOOOOO-OOOOOOO- X";
const FOURTEEN_EMPTIES: &str = "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X";
const FFO_40: &str = "O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X";

fn engine() -> OthelloEngine {
    OthelloEngine::new(OthelloEngineOptions {
        table_bytes: 1 << 22,
        ..OthelloEngineOptions::default()
    })
    .unwrap()
}

fn board(text: &str) -> Discs {
    text.parse().unwrap()
}

/// The rules to the letter: every line to its end.
fn minimax(board: Discs) -> i32 {
    if board.moves() == 0 {
        let passed = board.pass();
        return if passed.moves() == 0 {
            board.final_score()
        } else {
            -minimax(passed)
        };
    }
    Squares(board.moves())
        .map(|square| -minimax(board.play(square).unwrap()))
        .max()
        .unwrap()
}

/// The value of the other side's best reply, which is to move or has to pass.
fn value_after(board: Discs, square: edge::Square) -> i32 {
    -minimax(board.play(square).unwrap())
}

/// Random positions with so many empty squares in which the side to move has a move.
fn random_positions(rng: &mut ChaCha8Rng, empties: u32, count: usize) -> Vec<Discs> {
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut board = Discs::START;
        while board.empties() > empties && !board.is_over() {
            let moves = board.moves();
            board = if moves == 0 {
                board.pass()
            } else {
                let pick = rng.random_range(0..moves.count_ones()) as usize;
                board.play(Squares(moves).nth(pick).unwrap()).unwrap()
            };
        }
        if board.empties() == empties && board.moves() != 0 {
            positions.push(board);
        }
    }
    positions
}

/// Each move with its score, as `h5+6`, in the order of the squares.
fn table(engine: &mut OthelloEngine, board: Discs) -> String {
    let mut scores = engine.scores(board, SearchLimit::default());
    assert!(scores.is_sorted_by_key(|scored| -scored.score));
    assert!(scores.iter().all(|it| it.exactness == Exactness::Exact));
    scores.sort_by_key(|scored| scored.square);
    let moves: Vec<String> = scores
        .iter()
        .map(|scored| format!("{}{:+}", scored.square, scored.score))
        .collect();
    moves.join(" ")
}

#[test]
fn the_solver_finds_what_minimax_finds() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut engine = engine();
    for empties in 1..=8 {
        let count = if empties < 7 { 60 } else { 12 };
        for board in random_positions(&mut rng, empties, count) {
            let Solution { score, best, .. } = engine.solve(board);
            assert_eq!(score, minimax(board), "{board}");
            let expected: Vec<_> = Squares(board.moves())
                .filter(|square| value_after(board, *square) == score)
                .collect();
            assert_eq!(best, expected, "{board}");
        }
    }
}

#[test]
fn the_solver_is_right_whatever_it_does_without() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for idea in OthelloIdea::VARIANTS {
        let idea = idea.parse().unwrap();
        let mut engine = OthelloEngine::new(OthelloEngineOptions {
            table_bytes: 1 << 20,
            without: Some(idea),
            ..OthelloEngineOptions::default()
        })
        .unwrap();
        for empties in 1..=7 {
            for board in random_positions(&mut rng, empties, 12) {
                let found = engine.search(board, SearchLimit::default());
                assert_eq!(found.score, minimax(board), "without {idea:?}: {board}");
                assert_eq!(found.exactness, Exactness::Exact);
            }
        }
        let fourteen = engine.search(board(FOURTEEN_EMPTIES), SearchLimit::default());
        assert_eq!(fourteen.score, 18, "without {idea:?}");
    }
}

#[test]
fn scores_of_moves_are_what_minimax_finds() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut engine = engine();
    for board in random_positions(&mut rng, 7, 12) {
        for scored in engine.scores(board, SearchLimit::default()) {
            assert_eq!(scored.exactness, Exactness::Exact);
            assert_eq!(scored.score, value_after(board, scored.square), "{board}");
        }
    }
}

#[test]
fn six_and_fourteen_empty_squares_have_their_known_scores() {
    let mut engine = engine();
    let six = board(SIX_EMPTIES);
    assert_eq!(table(&mut engine, six), "h5+6 f6-4 g6-2 h6-10");
    let fourteen = engine.solve(board(FOURTEEN_EMPTIES));
    assert_eq!(fourteen.score, 18);
    assert_eq!(fourteen.best, ["g8".parse().unwrap()]);
}

#[test]
fn position_40_of_the_suite_has_its_known_score() {
    let solution = engine().solve(board(FFO_40));
    assert_eq!(solution.score, 38);
    assert_eq!(solution.best, ["a2".parse().unwrap()]);
}

#[test]
fn a_side_without_a_move_gets_a_score_and_no_square() {
    let mut engine = engine();
    let over = board(&("X".repeat(60) + "---- O"));
    let OthelloSearchResult { square, score, .. } = engine.search(over, SearchLimit::default());
    assert_eq!((square, score), (None, -64));
    assert!(engine.scores(over, SearchLimit::default()).is_empty());
    assert_eq!(engine.solve(over).score, -64);
    // White must pass, Black then takes the last square: all discs but those that stay.
    let pass = board(&("XO-".to_owned() + &"X".repeat(61) + " O"));
    assert_eq!(pass.moves(), 0);
    assert_eq!(engine.solve(pass).score, minimax(pass));
}
