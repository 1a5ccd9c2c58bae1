//! Othello against counts and statistics that were not made here.

use std::thread;

use arena_proto::games::othello::v1::{
    self as proto, OthelloAnswer, OthelloCall, othello_answer::Answer, othello_call::Call,
};
use prost::Message as _;
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use referee_core::{
    Dice, FoulKind, Game as _, Mark, Outcome, Seat, Seed, State, Step, Wire as _, Words,
    testing::prove,
};
use referee_games::othello::{
    BLACK, Ending, Othello, OthelloBoard, OthelloPosition, Previous, Question, Setup, WHITE,
    squares_of,
};

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
        assert_eq!(
            OthelloBoard::BEGINNING.perft(plies),
            expected,
            "{plies} plies"
        );
    }
}

#[test]
#[ignore = "takes ten seconds"]
fn deep_perft_from_the_beginning() {
    for plies in [11, 12] {
        let expected = PERFT[plies as usize - 1];
        assert_eq!(
            OthelloBoard::BEGINNING.perft(plies),
            expected,
            "{plies} plies"
        );
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

/// The mean number of legal moves that other people found in ten million random
/// games, to so many digits.
const LEGAL_MOVES: f64 = 8.538;

/// Of each game: win, loss and draw of the first player, discs placed, passes,
/// its disc difference, full board, wipe-out, and its legal moves over
/// [`LEGAL_MOVES`] a move.
fn random_game(rng: &mut SmallRng) -> [f64; 9] {
    let mut position = OthelloPosition::BEGINNING;
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
fn solve(board: OthelloBoard, mut alpha: i32, beta: i32) -> i32 {
    let moves = board.moves();
    if moves == 0 {
        return if board.pass().moves() == 0 {
            board.tournament_difference()
        } else {
            -solve(board.pass(), -beta, -alpha)
        };
    }
    let mut next: Vec<OthelloBoard> = squares_of(moves).map(|square| board.play(square)).collect();
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
    let position: OthelloPosition = position.parse().expect("a position");
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

fn dealt(setup: &Setup) -> State<Othello> {
    Othello::validate(setup).expect("a good set-up");
    Othello::deal(setup, &mut Dice::new(&Seed::new([0; 32])))
}

/// A game from the rows of a board, where the others are empty.
fn from_rows(rows: &[(usize, &str)], turn: &str) -> State<Othello> {
    let mut cells = ["--------"; 8];
    for &(row, text) in rows {
        cells[row - 1] = text;
    }
    dealt(&Setup {
        position: Some(format!("{} {turn}", cells.concat())),
        moves: None,
    })
}

fn play(state: &mut State<Othello>, square: &str) {
    let seat = asked(state).expect("a game that goes on");
    let square = square.parse().expect("a square");
    let sight = state.observe(seat);
    Othello::judge(&sight, Question::Move, &square).expect("a legal move");
    Othello::resolve(state, &[(seat, square)]);
}

fn asked(state: &mut State<Othello>) -> Option<Seat> {
    match Othello::step(state) {
        Step::Ask(asked) => Some(asked[0].0),
        _ => None,
    }
}

fn outcome(state: &mut State<Othello>) -> Outcome<Ending> {
    match Othello::step(state) {
        Step::Over(outcome) => outcome,
        step => panic!("expected the end, found {step:?}"),
    }
}

/// The reason why a game ended, as a record has it.
fn english(outcome: &Outcome<Ending>) -> String {
    Words::from(outcome.reason).english
}

#[test]
fn black_begins_with_four_moves() {
    let mut state = dealt(&Setup::default());
    assert_eq!(asked(&mut state), Some(BLACK));
    let legal: Vec<String> = Othello::legal(&state.observe(BLACK), Question::Move)
        .iter()
        .map(Othello::notation)
        .collect();
    assert_eq!(legal, ["d3", "c4", "f5", "e6"]);
    let refused = |square: &str| {
        let square = square.parse().unwrap();
        let judged = Othello::judge(&state.observe(BLACK), Question::Move, &square);
        judged.unwrap_err().to_string()
    };
    assert_eq!(refused("d4"), "d4 has a disc already");
    assert_eq!(
        refused("a1"),
        "Black encloses nothing on a1; expected one of d3 c4 f5 e6"
    );
}

#[test]
fn who_has_no_move_passes_and_is_not_asked() {
    let mut state = from_rows(&[(1, "XO------"), (3, "XO------")], "X");
    play(&mut state, "c1");
    assert_eq!(asked(&mut state), Some(BLACK));
    assert_eq!(state.public.previous, Previous::Pass);
    let mut call = Vec::new();
    Othello::write_question(&state.observe(BLACK), Question::Move, &mut call);
    let Some(Call::RequestMove(ask)) = OthelloCall::decode(&call[..]).unwrap().call else {
        panic!("expected a RequestMove");
    };
    let previous = ask.previous.unwrap().previous.unwrap();
    assert_eq!(previous, proto::previous::Previous::Pass(proto::Pass {}));
    assert_eq!(ask.board[..3], [2, 2, 2]);
    assert_eq!(ask.board[16..19], [2, 1, 0]);
}

#[test]
fn the_discs_that_a_move_turns_are_marked() {
    let mut state = from_rows(&[(1, "XOO-----"), (3, "OX------")], "X");
    play(&mut state, "d1");
    let marks = |state: &State<Othello>| {
        let scene = Othello::scene(&state.public, &[]);
        let cells = scene.areas[0].cells.clone().into_iter();
        let marked = cells.filter_map(|cell| Some((cell.says, cell.mark?)));
        marked.collect::<Vec<_>>()
    };
    let expected = [
        ("b1", Mark::Turned),
        ("c1", Mark::Turned),
        ("d1", Mark::Last),
    ];
    let expected = expected.map(|(square, mark)| (square.to_owned(), mark));
    assert_eq!(marks(&state), expected);
}

#[test]
fn the_side_to_move_of_a_set_up_may_have_to_pass() {
    let mut state = from_rows(&[(1, "OX------")], "X");
    assert_eq!(asked(&mut state), Some(WHITE));
    assert_eq!(state.public.previous, Previous::Pass);
}

/// The shortest game: White is wiped out after nine moves.
#[test]
fn a_game_ends_when_neither_side_has_a_move() {
    let mut state = dealt(&Setup::default());
    for square in ["e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"] {
        play(&mut state, square);
    }
    let outcome = outcome(&mut state);
    assert_eq!(outcome.places.as_slice(), [1, 2]);
    assert_eq!(outcome.scores.as_slice(), [13, -13]);
    assert_eq!(
        english(&outcome),
        "Black 13, White 0; with the empty squares 64 to 0"
    );
}

#[test]
fn a_draw_shares_the_empty_squares() {
    let mut state = from_rows(&[(1, "XXO-----"), (8, "OOOO----")], "X");
    play(&mut state, "d1");
    let outcome = outcome(&mut state);
    assert_eq!(outcome.places.as_slice(), [1, 1]);
    assert_eq!(
        english(&outcome),
        "Black 4, White 4; with the empty squares 32 to 32"
    );
}

#[test]
fn a_foul_is_a_loss_without_discs() {
    let mut state = dealt(&Setup::default());
    play(&mut state, "d3");
    assert_eq!(Othello::forfeit(&mut state, WHITE), 2);
    let outcome = outcome(&mut state);
    assert_eq!(outcome.places.as_slice(), [1, 2]);
    assert_eq!(outcome.scores.as_slice(), [0, 0]);
}

#[test]
fn openings_are_moves_or_positions() {
    let by_moves = Othello::opening(" f5d6c3 ").unwrap();
    let state = dealt(&by_moves);
    assert_eq!(state.public.position.turn, WHITE);
    let written = state.public.position.to_string();
    let by_position = dealt(&Othello::opening(&written).unwrap());
    assert_eq!(by_position.public.position, state.public.position);
    assert_eq!(by_position.public.previous, Previous::None);
    let by_json = Othello::opening(r#"{"moves": "f5d6c3"}"#).unwrap();
    assert_eq!(
        by_json,
        Setup {
            moves: Some("f5d6c3".to_owned()),
            position: None
        }
    );
}

#[test]
fn illegal_set_ups_are_refused_with_the_reason() {
    let game = referee_games::game("othello").unwrap();
    let refused = |json: &str| {
        let json = serde_json::from_str(json).unwrap();
        game.setup(&json).unwrap_err().to_string()
    };
    assert_eq!(
        refused(r#"{"position": "XO X"}"#),
        format!(
            "expected 64 squares and X or O for the side to move, such as \"{}\", found 2 squares",
            OthelloPosition::BEGINNING
        )
    );
    assert_eq!(
        refused(r#"{"moves": "f5d6z9"}"#),
        "move 3 of the transcript: expected a square of a1 to h8, found \"z9\""
    );
    assert!(refused(r#"{"moves": "f5d6c3", "position": ""}"#).ends_with("found 0 squares"));
    assert!(
        refused(r#"{"moves": "e6f4e3f6g5d6e7f5c5"}"#).starts_with("neither side has a move in")
    );
    assert!(refused(r#"{"moves": "e6f4e3f6g5d6e7f5c5a1"}"#).contains("has no move, found a1"));
    assert!(refused(r#"{"move": "f5"}"#).contains("unknown field"));
    assert!(
        game.opening("12")
            .unwrap_err()
            .to_string()
            .starts_with("expected moves such as f5d6c3, or a position")
    );
}

#[test]
fn answers_that_are_no_square_are_told_what_was_expected() {
    let told = |row, column| {
        let answer = OthelloAnswer {
            number: None,
            answer: Some(Answer::Square(proto::Square { row, column })),
        };
        let read = Othello::read_answer(Question::Move, &answer.encode_to_vec());
        read.unwrap_err().to_string()
    };
    assert_eq!(
        told(Some(8), Some(0)),
        "expected a square with row and column of 0 to 7, found row 8, column 0"
    );
    assert_eq!(told(Some(3), None), "the square lacks its row or column");
    assert_eq!(
        Othello::read_answer(Question::Move, &[])
            .unwrap_err()
            .to_string(),
        "expected a square, found nothing"
    );
}

/// As for every game from its beginning in `every_game.rs`.
#[test]
fn set_ups_are_told_whole() {
    let passed = format!("OX{} X", "-".repeat(62));
    for line in ["f5d6c3", "f5f6e6", passed.as_str()] {
        let setup = Othello::opening(line).unwrap();
        for seed in 0..20 {
            let forfeit =
                |seat, place| referee_games::forfeit(seat, FoulKind::Crashed, place).to_vec();
            let proof = prove::<Othello>(&setup, &Seed::new([seed; 32]), forfeit);
            assert_eq!(proof, Ok(()), "{line}, seed {seed}");
        }
    }
}
