//! The scene to draw: the other's hand and river, one's own river and hand.

use referee_core::{Area, Cell, Hidden, Mark, Piece, Scene, Seat, Shape, TileSuit, Words};

use super::{
    hand::Hand,
    melds::groups,
    rules::{Private, Public, Won},
    setup::DEALT,
    tile::{MahjongSuit, Tile},
    value::MissingSuit,
};

pub(super) fn scene(public: &Public, private: &[(Seat, &Private)]) -> Scene {
    // The seat that looks is at the bottom; seat 0 if everything is visible.
    let below = match private {
        [(seat, _)] => *seat,
        _ => Seat::new(0),
    };
    let above = below.other();
    let hand = |seat: Seat| {
        let found = private.iter().find(|(of, _)| *of == seat);
        let won = public.won.filter(|won| won.seat == seat);
        match (found, won) {
            // A hand that has won is shown to all.
            (_, Some(won)) => winning_hand(&won, public.missing_suit),
            (Some((_, private)), None) => hand_of(seat, tiles(&private.hand, private.drawn)),
            (None, None) => hand_of(
                seat,
                vec![Cell::new(Piece::FaceDown { of: Hidden::Tile }); DEALT],
            ),
        }
    };
    let river = |seat: Seat| {
        let mut river = &public.rivers[seat.index()][..];
        // A discard that was won on lies in the winner's hand.
        if let (Some(won), [before @ .., _]) = (public.won, river)
            && !won.self_draw
            && won.seat != seat
        {
            river = before;
        }
        let last = river.len().checked_sub(1).filter(|_| public.turn() != seat);
        let cells = river.iter().enumerate();
        let cells = cells.map(|(at, &tile)| {
            Cell::new(piece(tile)).marked((Some(at) == last).then_some(Mark::Last))
        });
        Area {
            label: Words::new(format!("seat {seat}: river"), format!("座位 {seat}：牌河")),
            seat: Some(seat),
            shape: Shape::River,
            cells: cells.collect(),
        }
    };
    // A win shows that its tile was drawn.
    let drawn = private.iter().any(|(_, private)| private.drawn.is_some())
        || public.won.is_some_and(|won| won.self_draw);
    let left = public.wall.saturating_sub(drawn.into());
    Scene {
        areas: vec![hand(above), river(above), river(below), hand(below)],
        captions: vec![Words::new(
            format!("{left} tiles left"),
            format!("牌墙剩 {left} 张"),
        )],
        nearest: Some(below),
    }
}

fn hand_of(seat: Seat, cells: Vec<Cell>) -> Area {
    Area {
        label: Words::new(format!("seat {seat}: hand"), format!("座位 {seat}：手牌")),
        seat: Some(seat),
        shape: Shape::Row,
        cells,
    }
}

/// A hand and, marked and apart, the tile that has just come to it.
fn tiles(hand: &Hand, new: Option<Tile>) -> Vec<Cell> {
    let new = new.map(|tile| cell(tile).marked(Some(Mark::Last)).apart(true));
    hand.tiles().map(cell).chain(new).collect()
}

/// A hand that has won: its melds and its pair, the tile that completed it, its value.
fn winning_hand(won: &Won, missing_suit: MissingSuit) -> Area {
    let Won { seat, tile, .. } = *won;
    let mut cells = Vec::new();
    for group in groups(&won.hand) {
        for (at, &one) in group.iter().enumerate() {
            cells.push(cell(one).apart(at == 0));
        }
    }
    let named = tile.to_string();
    if let Some(last) = cells.iter_mut().find(|cell| cell.says == named) {
        last.mark = Some(Mark::Last);
    }
    let faan = won.faan(missing_suit).unwrap_or_default();
    Area {
        label: Words::new(
            format!("seat {seat}: wins with {tile}, {faan} faan"),
            format!("座位 {seat}：和 {tile}，{faan} 番"),
        ),
        seat: Some(seat),
        shape: Shape::Row,
        cells,
    }
}

fn cell(tile: Tile) -> Cell {
    Cell::new(piece(tile)).says(tile.to_string())
}

fn piece(tile: Tile) -> Piece {
    Piece::Tile {
        rank: tile.rank(),
        suit: match tile.suit() {
            MahjongSuit::Characters => TileSuit::Characters,
            MahjongSuit::Bamboos => TileSuit::Bamboos,
            MahjongSuit::Dots => TileSuit::Dots,
        },
    }
}
