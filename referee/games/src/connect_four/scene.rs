//! The drawing of the game.

use referee_core::{Area, Cell, Mark, Piece, Scene, Shape, Surface, Wire as _, Words};

use super::rules::{ConnectFour, Point, Public};

pub(super) fn scene(public: &Public) -> Scene {
    let board = &public.board;
    let line = public.line();
    let mut cells = Vec::with_capacity(board.rows() * board.columns());
    for row in 0..board.rows() {
        for column in 0..board.columns() {
            let here = Point {
                x: row as i32,
                y: column as i32,
            };
            let piece = if board.forbidden() == Some(here) {
                Piece::Blocked
            } else {
                board
                    .stone(row, column)
                    .map_or(Piece::Empty, |seat| Piece::Disc { seat })
            };
            cells.push(
                Cell::new(piece)
                    .marked(match public.last == Some(here) {
                        _ if line.contains(&here) => Some(Mark::Line),
                        is_last => is_last.then_some(Mark::Last),
                    })
                    .says(ConnectFour::notation(&here)),
            );
        }
    }
    let numbers = |count: usize| (0..count).map(|number| number.to_string()).collect();
    Scene {
        areas: vec![Area {
            label: Words::default(),
            seat: None,
            shape: Shape::Board {
                surface: Surface::Holes,
                rows: numbers(board.rows()),
                columns: numbers(board.columns()),
            },
            cells,
        }],
        captions: Vec::new(),
        nearest: None,
    }
}
