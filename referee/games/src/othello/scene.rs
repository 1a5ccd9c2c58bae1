//! The drawing of the game.

use referee_core::{Area, Cell, Mark, Piece, Scene, Shape, Surface, Words};

use super::{
    ending::discs,
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
            .marked(match public.previous == Previous::Square(square) {
                true => Some(Mark::Last),
                false => (public.turned & square.bit() != 0).then_some(Mark::Turned),
            })
            .says(square.to_string())
    };
    let count = [BLACK, WHITE].map(|seat| position.discs(seat).count_ones());
    let mut captions = vec![discs(count)];
    if public.previous == Previous::Pass {
        let passed = position.turn.other();
        let in_chinese = if passed == BLACK { "黑" } else { "白" };
        captions.push(Words::new(
            format!("{} has no move", name(passed)),
            format!("{in_chinese}方无子可下"),
        ));
    }
    Scene {
        areas: vec![Area {
            label: Words::default(),
            seat: None,
            shape: Shape::Board {
                surface: Surface::Cloth,
                rows: (1..=8).map(|row| row.to_string()).collect(),
                columns: ('a'..='h').map(String::from).collect(),
            },
            cells: Square::all().map(cell).collect(),
        }],
        captions,
        nearest: None,
    }
}
