//! Connect Four against counts that were not made here, and against a slow
//! reading of the rules.

use std::{ops::RangeInclusive, thread};

use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use referee_core::{
    Dice, FoulKind, Game as _, Mark, Seat, Seed, State, Step, Wire as _, testing::prove,
};
use referee_games::connect_four::{
    ConnectFour, ConnectFourBoard, Ending, Forbidden, Point, Public, Question, Setup, columns_of,
};

const FIRST: Seat = Seat::new(0);
const SECOND: Seat = Seat::new(1);

/// Number of sequences of this many drops, where a line ends a game.
fn leaves(board: &ConnectFourBoard, seat: Seat, plies: u32) -> u64 {
    if plies == 1 {
        return board.open().count_ones().into();
    }
    columns_of(board.open())
        .map(|column| {
            let mut next = board.clone();
            if next.drop_stone(seat, column) {
                0
            } else {
                leaves(&next, seat.other(), plies - 1)
            }
        })
        .sum()
}

/// (columns, rows, forbidden cell as column from the left and row from the
/// bottom, leaves at ply 8), counted by others.
#[test]
fn leaf_counts_with_a_forbidden_cell() {
    for (columns, rows, forbidden, expected) in [
        (9, 9, None, 42_569_793),
        (9, 9, Some((4, 0)), 42_859_881),
        (9, 9, Some((4, 3)), 42_574_401),
        (10, 11, Some((3, 2)), 99_087_670),
        (11, 9, Some((0, 0)), 212_907_255),
        (12, 12, None, 427_223_952),
    ] {
        let cell = forbidden.map(|(column, from_below)| Point {
            x: i32::from(rows) - 1 - from_below,
            y: column,
        });
        let board = ConnectFourBoard::new(rows, columns, cell);
        assert_eq!(
            leaves(&board, FIRST, 8),
            expected,
            "{columns} columns, {rows} rows, {forbidden:?}"
        );
    }
}

#[test]
fn leaf_counts_of_the_common_board() {
    let board = ConnectFourBoard::new(6, 7, None);
    let counted: Vec<u64> = (1..=9).map(|plies| leaves(&board, FIRST, plies)).collect();
    assert_eq!(
        counted,
        [
            7, 49, 343, 2401, 16807, 117_649, 823_536, 5_673_234, 39_394_572
        ]
    );
}

#[test]
fn the_line_that_wins_is_marked() {
    let mut board = ConnectFourBoard::new(6, 7, None);
    for column in [0, 1, 2] {
        board.drop_stone(FIRST, column);
        board.drop_stone(SECOND, column);
    }
    let mut dice = Dice::new(&Seed::new([0; 32]));
    let mut state: State<ConnectFour> = ConnectFour::deal(&Setup::default(), &mut dice);
    state.public = Public::standing(board, None).unwrap();
    ConnectFour::resolve(&mut state, &[(FIRST, Point { x: 5, y: 3 })]);
    let scene = ConnectFour::scene(&state.public, &[]);
    let cells = scene.areas[0].cells.iter();
    let line: Vec<&str> = cells
        .filter(|cell| cell.mark == Some(Mark::Line))
        .map(|cell| &*cell.says)
        .collect();
    assert_eq!(line, ["(5, 0)", "(5, 1)", "(5, 2)", "(5, 3)"]);
}

/// The rules page read to the letter, without a thought for cleverness.
struct Slow {
    rows: usize,
    columns: usize,
    /// By row and column.
    cells: [[Option<Seat>; 12]; 12],
    top: [usize; 12],
    forbidden: (usize, usize),
}

impl Slow {
    fn new(rows: usize, columns: usize, forbidden: (usize, usize)) -> Self {
        let mut slow = Self {
            rows,
            columns,
            cells: [[None; 12]; 12],
            top: [rows; 12],
            forbidden,
        };
        slow.lower(forbidden.1);
        slow
    }

    fn lower(&mut self, y: usize) {
        if self.top[y] > 0 && (self.top[y] - 1, y) == self.forbidden {
            self.top[y] -= 1;
        }
    }

    /// Drops a stone and says whether it makes four or more in a line.
    fn drop(&mut self, seat: Seat, y: usize) -> bool {
        let x = self.top[y] - 1;
        self.cells[x][y] = Some(seat);
        self.top[y] = x;
        self.lower(y);
        [(0, 1), (1, 0), (1, 1), (1, -1)]
            .iter()
            .any(|&(down, right)| {
                1 + self.run(seat, (x, y), (down, right)) + self.run(seat, (x, y), (-down, -right))
                    >= 4
            })
    }

    /// Number of stones of this seat in a row beside this one.
    fn run(&self, seat: Seat, (x, y): (usize, usize), (down, right): (isize, isize)) -> usize {
        let (mut x, mut y, mut length) = (x, y, 0);
        loop {
            x = x.wrapping_add_signed(down);
            y = y.wrapping_add_signed(right);
            if x >= self.rows || y >= self.columns || self.cells[x][y] != Some(seat) {
                return length;
            }
            length += 1;
        }
    }
}

/// Plays a random game on both boards, which must agree at every ply; whether
/// somebody won.
fn random_game(rng: &mut SmallRng, sizes: RangeInclusive<u8>) -> bool {
    let (rows, columns) = (rng.random_range(sizes.clone()), rng.random_range(sizes));
    let (x, y) = (rng.random_range(0..rows), rng.random_range(0..columns));
    let mut board = ConnectFourBoard::new(rows, columns, at(x.into(), y.into()));
    let mut slow = Slow::new(rows.into(), columns.into(), (x.into(), y.into()));
    let mut seat = FIRST;
    let won = loop {
        let mut open = 0;
        for y in 0..slow.columns {
            assert_eq!(usize::from(board.top()[y]), slow.top[y]);
            open |= u16::from(slow.top[y] > 0) << y;
        }
        assert_eq!(board.open(), open);
        if open == 0 {
            break false;
        }
        let pick = rng.random_range(0..open.count_ones()) as usize;
        let column = columns_of(open).nth(pick).expect("an open column");
        let line = slow.drop(seat, column);
        assert_eq!(board.completes(seat, column), line);
        assert_eq!(board.drop_stone(seat, column), line);
        if line {
            break true;
        }
        seat = seat.other();
    };
    let cells = slow.cells[..slow.rows]
        .iter()
        .flat_map(|row| &row[..slow.columns]);
    let sign = |cell: &Option<Seat>| cell.map_or(0, |seat| if seat == FIRST { 1 } else { 2 });
    assert!(
        board
            .cells(FIRST, [1, 2, 0])
            .into_iter()
            .eq(cells.map(sign))
    );
    won
}

#[test]
fn a_million_random_games_agree_with_a_slow_reading_of_the_rules() {
    const GAMES: u32 = 1_000_000;
    const THREADS: u32 = 2;
    let games: Vec<_> = (0..THREADS)
        .map(|thread| {
            thread::spawn(move || {
                let mut rng = SmallRng::seed_from_u64(thread.into());
                let mut won = 0;
                for game in 0..GAMES / THREADS {
                    // Small boards too: they fill up, and end in a draw now and then.
                    let sizes = if game % 2 == 0 { 9..=12 } else { 4..=5 };
                    won += u32::from(random_game(&mut rng, sizes));
                }
                won
            })
        })
        .collect();
    let won: u32 = games.into_iter().map(|games| games.join().unwrap()).sum();
    let drawn = GAMES - won;
    assert!(won > 800_000 && drawn > 25_000, "{won} won, {drawn} drawn");
}

fn at(x: i32, y: i32) -> Option<Point> {
    Some(Point { x, y })
}

#[test]
fn a_stone_lands_above_a_forbidden_cell_in_the_bottom_row() {
    let mut board = ConnectFourBoard::new(9, 9, at(8, 3));
    assert_eq!(board.top(), [9, 9, 9, 8, 9, 9, 9, 9, 9]);
    board.drop_stone(FIRST, 3);
    assert_eq!(board.stone(7, 3), Some(FIRST));
    assert_eq!(board.top()[3], 7);
}

#[test]
fn a_column_whose_only_cell_left_is_forbidden_is_full() {
    let mut board = ConnectFourBoard::new(9, 9, at(0, 3));
    for _ in 0..4 {
        board.drop_stone(FIRST, 3);
        board.drop_stone(SECOND, 3);
    }
    assert_eq!(board.top()[3], 0);
    assert_eq!(board.landing(3), None);
    assert_eq!(board.open() >> 3 & 1, 0);
}

#[test]
fn top_skips_a_forbidden_cell_in_the_middle() {
    let mut board = ConnectFourBoard::new(9, 9, at(6, 3));
    board.drop_stone(FIRST, 3);
    assert_eq!(board.top()[3], 8);
    board.drop_stone(FIRST, 3);
    assert_eq!(board.top()[3], 6);
    assert_eq!(board.landing(3), at(5, 3));
}

#[test]
fn a_forbidden_cell_breaks_a_line() {
    let mut board = ConnectFourBoard::new(9, 9, at(8, 2));
    for column in [0, 1, 3, 4] {
        assert!(!board.drop_stone(FIRST, column));
    }
    // Down the column: three below the cell and one above are no four.
    let mut board = ConnectFourBoard::new(9, 9, at(5, 2));
    for _ in 0..3 {
        assert!(!board.drop_stone(FIRST, 2));
    }
    assert!(!board.drop_stone(FIRST, 2));
    assert_eq!(board.stone(4, 2), Some(FIRST));
}

#[test]
fn more_than_four_win_too() {
    let mut board = ConnectFourBoard::new(9, 9, None);
    for column in [0, 1, 2, 4, 5, 6] {
        assert!(!board.drop_stone(FIRST, column));
    }
    assert!(board.drop_stone(FIRST, 3));
}

#[test]
fn a_line_on_the_last_free_cell_wins() {
    let setup = Setup {
        rows: Some(4),
        columns: Some(4),
        forbidden: Forbidden::None,
        ..Setup::default()
    };
    let mut state = ConnectFour::deal(&setup, &mut Dice::new(&Seed::new([0; 32])));
    // Columns 0, 1, 2 in an order that makes no line, then column 3 so that
    // the last stone, of the second seat, completes the top row.
    let cells = [
        "XOXO", // the bottom row
        "XOXO", "OXOX", "OOO.", // the top row
    ];
    let mut stones = Vec::new();
    for row in cells.iter().rev() {
        for cell in row.chars() {
            stones.push(match cell {
                'X' => Some(FIRST),
                'O' => Some(SECOND),
                _ => None,
            });
        }
    }
    state.public.board = ConnectFourBoard::with_stones(4, 4, None, &stones).unwrap();
    state.public.turn = SECOND;
    let Step::Ask(asked) = ConnectFour::step(&mut state) else {
        panic!("one cell is free");
    };
    assert_eq!(asked, [(SECOND, Question::Point)]);
    ConnectFour::resolve(&mut state, &[(SECOND, Point { x: 0, y: 3 })]);
    assert!(state.public.board.is_full());
    let Step::Over(outcome) = ConnectFour::step(&mut state) else {
        panic!("it is over");
    };
    assert_eq!(outcome.places.as_slice(), [2, 1]);
    assert_eq!(outcome.reason, Ending::FourInALine);
}

#[test]
fn a_full_board_without_a_line_is_a_draw() {
    let setup = Setup {
        rows: Some(4),
        columns: Some(4),
        forbidden: Forbidden::At(Point { x: 0, y: 3 }),
        ..Setup::default()
    };
    let mut state = ConnectFour::deal(&setup, &mut Dice::new(&Seed::new([0; 32])));
    let stones: Vec<_> = "OOX.OXOXXOXOXOX."
        .chars()
        .map(|cell| match cell {
            'X' => Some(FIRST),
            'O' => Some(SECOND),
            _ => None,
        })
        .collect();
    // The last column holds two stones; one more fits below the forbidden cell.
    let mut stones = stones;
    stones.swap(15, 3);
    stones[15] = Some(FIRST);
    state.public.board = ConnectFourBoard::with_stones(4, 4, at(0, 3), &stones).unwrap();
    assert!(state.public.board.is_full());
    let Step::Over(outcome) = ConnectFour::step(&mut state) else {
        panic!("it is over");
    };
    assert_eq!(outcome.places.as_slice(), [1, 1]);
}

/// Worked out with another implementation of ChaCha20: seed 09…09 draws
/// 11 rows, 12 columns and the cell (4, 2).
#[test]
fn a_seed_means_the_same_board_for_ever() {
    let state = ConnectFour::deal(&Setup::default(), &mut Dice::new(&Seed::new([9; 32])));
    let board = state.public.board;
    assert_eq!((board.rows(), board.columns()), (11, 12));
    assert_eq!(board.forbidden(), at(4, 2));
}

#[test]
fn boards_and_cells_are_drawn_evenly() {
    let mut sizes = [[0_u32; 4]; 4];
    let mut corners = 0;
    let rounds = 32_000;
    for i in 0..rounds {
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&u32::to_le_bytes(i));
        let board = ConnectFour::deal(&Setup::default(), &mut Dice::new(&Seed::new(seed)))
            .public
            .board;
        sizes[board.rows() - 9][board.columns() - 9] += 1;
        corners += u32::from(board.forbidden() == at(0, 0));
    }
    // Four standard errors: 4 * sqrt(32000 * 1/16 * 15/16) = 173.
    assert!(
        sizes.iter().flatten().all(|n| n.abs_diff(2000) < 173),
        "{sizes:?}"
    );
    // The mean of 1/(m n) over the sizes is 0.009195: 294 of 32000, four
    // standard errors 69.
    assert!(corners.abs_diff(294) < 69, "{corners}");
}

fn dealt(setup: &Setup) -> State<ConnectFour> {
    ConnectFour::validate(setup).expect("a good set-up");
    ConnectFour::deal(setup, &mut Dice::new(&Seed::new([9; 32])))
}

#[test]
fn a_board_can_be_set_up_as_it_stands() {
    let json = r##"{"board": ["....", "..O.", "#XX.", "XOOX"], "turn": 1}"##;
    let setup: Setup = serde_json::from_str(json).unwrap();
    let public = dealt(&setup).public;
    assert_eq!((public.board.rows(), public.board.columns()), (4, 4));
    assert_eq!(public.board.forbidden(), at(2, 0));
    assert_eq!(public.board.top(), [2, 2, 1, 3]);
    assert_eq!(public.board.stone(1, 2), Some(SECOND));
    assert_eq!((public.turn, public.last), (SECOND, None));
}

#[test]
fn an_opening_is_columns_played_in_turn() {
    let setup = ConnectFour::opening(" 3 3 4 ").unwrap();
    let public = dealt(&setup).public;
    // The size is drawn as without an opening.
    assert_eq!((public.board.rows(), public.board.columns()), (11, 12));
    assert_eq!(public.board.stone(10, 3), Some(FIRST));
    assert_eq!(public.board.stone(9, 3), Some(SECOND));
    assert_eq!((public.turn, public.last), (SECOND, at(10, 4)));
    for other in [
        r#"{"moves": [3, 3, 4]}"#,
        r#"{"moves": "3 3 4"}"#,
        "3, 3, 4",
        "[3,3,4]",
    ] {
        assert_eq!(ConnectFour::opening(other).as_ref(), Ok(&setup), "{other}");
    }
}

#[test]
fn a_board_and_columns_are_one_line() {
    let rows = r##"{"board": ["....", "..O.", "#XX.", "XOOX"], "moves": [3, 3]}"##;
    let expected = ConnectFour::opening(rows).unwrap();
    for line in [
        "..../..O./#XX./XOOX 3 3",
        "..../..o./#xx./xoox 3, 3",
        ".... ..O. #XX. XOOX 3 3",
        r##"{"board": "..../..O./#XX./XOOX", "moves": "3 3"}"##,
    ] {
        assert_eq!(
            dealt(&ConnectFour::opening(line).unwrap()).public,
            dealt(&expected).public
        );
    }
    let public = dealt(&expected).public;
    assert_eq!(public.board.to_string(), "..../..OX/#XXO/XOOX");
    assert_eq!((public.turn, public.last), (SECOND, at(1, 3)));
}

#[test]
fn the_forbidden_cell_is_read_as_people_write_it() {
    let expected = Forbidden::At(Point { x: 4, y: 5 });
    for written in [
        r#"{"at": {"x": 4, "y": 5}}"#,
        r#""(4, 5)""#,
        r#""4 5""#,
        "[4, 5]",
    ] {
        let setup = ConnectFour::opening(&format!(r#"{{"forbidden": {written}}}"#));
        assert_eq!(setup.unwrap().forbidden, expected, "{written}");
    }
    let refused = ConnectFour::opening(r#"{"forbidden": "here"}"#).unwrap_err();
    let expected = "expected \"random\", \"none\" or a row and a column, such as \"(4, 4)\"";
    assert!(refused.0.contains(expected), "{refused}");
}

/// As for every game from its beginning in `every_game.rs`.
#[test]
fn set_ups_are_told_whole() {
    for line in [
        "3 3 4",
        r##"{"board": ["....", "..O.", "#XX.", "XOOX"]}"##,
        r#"{"rows": 4, "columns": 5, "moves": [0, 1]}"#,
    ] {
        let setup = ConnectFour::opening(line).unwrap();
        for seed in 0..20 {
            let forfeit =
                |seat, place| referee_games::forfeit(seat, FoulKind::Crashed, place).to_vec();
            let proof = prove::<ConnectFour>(&setup, &Seed::new([seed; 32]), forfeit);
            assert_eq!(proof, Ok(()), "{line}, seed {seed}");
        }
    }
}

/// Records of earlier versions have set-ups and starts like these.
#[test]
fn a_set_up_without_stones_is_written_as_ever() {
    let written = serde_json::to_string(&Setup::default()).unwrap();
    assert_eq!(
        written,
        r#"{"rows":null,"columns":null,"forbidden":"random"}"#
    );
    let mut start = Vec::new();
    let state = dealt(&Setup::default());
    ConnectFour::write_start(&state.observe(FIRST), &mut start);
    assert_eq!(start, [0x5a, 8, 8, 11, 16, 12, 24, 8, 32, 4]);
}

#[test]
fn set_ups_with_stones_are_refused_with_the_reason() {
    let refused = |json: &str| {
        let setup: Setup = serde_json::from_str(json).expect("a set-up");
        ConnectFour::validate(&setup).unwrap_err().to_string()
    };
    let board = |rows: [&str; 4]| refused(&serde_json::json!({ "board": rows }).to_string());
    for (rows, reason) in [
        (
            ["....", "....", "X...", "...."],
            "no stone can lie on (2, 0) while (3, 0) is free",
        ),
        (
            ["....", "....", "OOO.", "XXXX"],
            "seat 0 has a line of four already",
        ),
        (
            ["....", "....", "....", "O..."],
            "seat 0 begins and has as many stones as seat 1 or one more, found 0 and 1",
        ),
        (["XXOO", "OOXX", "XXOO", "OOXX"], "the board is full"),
        (
            ["....", "...", "....", "...."],
            "expected 4 cells in row 1 as in row 0, found 3",
        ),
        (
            ["....", "....", "...y", "...."],
            "expected ., X, O or # on (2, 3), found \"y\"",
        ),
        (
            ["#...", "....", "...#", "...."],
            "expected one forbidden cell, found (0, 0) and (2, 3)",
        ),
    ] {
        assert_eq!(board(rows), reason);
    }
    assert_eq!(
        refused(r#"{"board": ["...."]}"#),
        "rows must be 4 to 12, found 1"
    );
    assert_eq!(
        refused(r#"{"board": ["....", "....", "....", "...."], "moves": [1, 4]}"#),
        "move 2 of the opening, column 4, does not exist on a board of 4 rows and 4 columns with no forbidden cell"
    );
    assert_eq!(
        refused(r##"{"board": ["....", "..O.", "#XX.", "XOOX"], "moves": [3], "turn": 1}"##),
        "by the stones it is the turn of seat 0, found turn 1"
    );
    assert_eq!(
        refused(r#"{"board": ["...."], "rows": 4}"#),
        "expected a board or rows, found both"
    );
    assert_eq!(
        refused(r#"{"moves": [3, 3], "turn": 1}"#),
        "by the stones it is the turn of seat 0, found turn 1"
    );
    assert_eq!(
        refused(r#"{"moves": [9]}"#),
        "move 1 of the opening, column 9, does not exist on a board of 9 rows and 9 columns with the forbidden cell (0, 0)"
    );
    // With the forbidden cell in this column it has room for eight only.
    assert_eq!(
        refused(r#"{"moves": [1, 1, 1, 1, 1, 1, 1, 1, 1]}"#),
        "move 9 of the opening, column 1, is full on a board of 9 rows and 9 columns with the forbidden cell (0, 1)"
    );
    assert_eq!(
        refused(
            r#"{"rows": 6, "columns": 7, "forbidden": "none", "moves": [0, 1, 0, 1, 0, 1, 0]}"#
        ),
        "move 7 of the opening, column 0, would make a line and end the game on a board of 6 rows and 7 columns with no forbidden cell"
    );
    for (line, reason) in [
        (
            "3 x",
            "expected columns from 0 with blanks between them, such as 3 3 4, found \"3 x\"",
        ),
        (
            "(8, 3)",
            "expected columns from 0, such as 3 3 4, found \"(8, 3)\": of a point write the column alone, 3 for (8, 3)",
        ),
        (
            "f5d6c3",
            "expected columns from 0 with blanks between them, such as 3 3 4, or a board such as \"..../..../..../XO..\", found \"f5d6c3\"",
        ),
    ] {
        let refused = ConnectFour::opening(line).unwrap_err().to_string();
        assert_eq!(refused, reason);
    }
}

#[test]
fn illegal_set_ups_are_refused_with_the_reason() {
    let refused = |json: &str| {
        referee_games::game("connect-four")
            .unwrap()
            .setup(&serde_json::from_str(json).unwrap())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(refused(r#"{"rows": 3}"#), "rows must be 4 to 12, found 3");
    assert_eq!(
        refused(r#"{"columns": 13}"#),
        "columns must be 4 to 12, found 13"
    );
    assert!(
        refused(r#"{"rows": 9, "columns": 9, "forbidden": {"at": {"x": 9, "y": 0}}}"#)
            .starts_with("the forbidden cell (9, 0) must lie on the board")
    );
    assert!(refused(r#"{"row": 9}"#).contains("unknown field"));
}
