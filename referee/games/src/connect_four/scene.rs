//! What to draw.

use referee_core::{Item, Scene};

use super::rules::{Point, Public};

pub(super) fn scene(public: &Public) -> Scene {
    let board = &public.board;
    let mut items = Vec::new();
    for row in 0..board.rows() {
        for column in 0..board.columns() {
            let here = Point {
                x: row as i32,
                y: column as i32,
            };
            let (row, column) = (row as u8, column as u8);
            if board.forbidden() == Some(here) {
                items.push(Item::Blocked { row, column });
            } else if let Some(seat) = board.stone(row.into(), column.into()) {
                items.push(Item::Disc {
                    row,
                    column,
                    seat,
                    marked: public.last == Some(here),
                });
            }
        }
    }
    Scene {
        rows: board.rows() as u8,
        columns: board.columns() as u8,
        items,
        captions: Vec::new(),
    }
}
