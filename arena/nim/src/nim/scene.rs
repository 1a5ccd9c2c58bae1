//! The drawing of the game: a row for each heap.

use referee_core::{Area, Cell, Piece, Scene, Seat, Shape, Surface, Words};

use super::{rules::Public, wire::letter};

pub(super) fn scene(public: &Public) -> Scene {
    let heaps = || (0..).zip(&public.heaps);
    let cell = |there: u8, place: u8| {
        Cell::new(match place < there {
            true => Piece::Disc { seat: Seat::new(0) },
            false => Piece::Empty,
        })
    };
    Scene {
        areas: vec![Area {
            label: Words::default(),
            seat: None,
            shape: Shape::Board {
                surface: Surface::Plain,
                rows: heaps().map(|(heap, _)| letter(heap).to_string()).collect(),
                columns: (1..=9).map(|column| column.to_string()).collect(),
            },
            cells: (heaps())
                .flat_map(|(_, &there)| (0..9).map(move |place| cell(there, place)))
                .collect(),
        }],
        captions: Vec::new(),
        nearest: None,
    }
}
