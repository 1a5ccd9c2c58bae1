//! How the game is drawn.

use referee_core::{Area, Cell, Piece, Scene, Shape, Surface};

use super::{
    position::{BLACK, WHITE, name},
    rules::{Previous, Public},
    square::Square,
};

pub(super) fn scene(public: &Public) -> Scene {
    let position = public.position;
    let cell = |square: Square| {
        let owner = [BLACK, WHITE]
            .into_iter()
            .find(|&seat| position.discs(seat) & square.bit() != 0);
        Cell::new(owner.map_or(Piece::Empty, |seat| Piece::Disc { seat }))
            .marked(public.previous == Previous::Square(square))
            .says(square.to_string())
    };
    let [black, white] = [BLACK, WHITE].map(|seat| position.discs(seat).count_ones());
    let mut captions = vec![format!("Black {black}, White {white}")];
    if public.previous == Previous::Pass {
        captions.push(format!("{} has no move", name(position.turn.other())));
    }
    Scene {
        areas: vec![Area {
            label: String::new(),
            seat: None,
            shape: Shape::Board {
                surface: Surface::Cloth,
                rows: (1..=8).map(|row| row.to_string()).collect(),
                columns: ('a'..='h').map(String::from).collect(),
            },
            cells: Square::all().map(cell).collect(),
        }],
        captions,
    }
}
