//! The scene to draw: the other's hand and river, one's own river and hand.

use referee_core::{Area, Cell, Hidden, Piece, Scene, Seat, Shape, TileSuit, Words};

use super::{
    rules::{Private, Public, Won},
    setup::DEALT,
    tile::{MahjongSuit, Tile},
};

const HAND: (&str, &str) = ("hand", "手牌");
const RIVER: (&str, &str) = ("river", "牌河");

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
            (_, Some(won)) => area(
                HAND,
                seat,
                tiles(won.hand.without(won.tile).tiles(), Some(won.tile)),
            ),
            (Some((_, private)), None) => {
                area(HAND, seat, tiles(private.hand.tiles(), private.drawn))
            }
            (None, None) => area(
                HAND,
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
        let cells = cells.map(|(at, &tile)| Cell::new(piece(tile)).marked(Some(at) == last));
        area(RIVER, seat, cells.collect())
    };
    // A win shows that its tile was drawn.
    let drawn = private.iter().any(|(_, private)| private.drawn.is_some())
        || public.won.is_some_and(|won| won.self_draw);
    let left = public.wall.saturating_sub(drawn.into());
    let mut captions = vec![Words::new(
        format!("{left} tiles left"),
        format!("牌墙剩 {left} 张"),
    )];
    captions.extend(public.won.map(|won| {
        let faan = won.faan(public.missing_suit).unwrap_or_default();
        let Won { seat, tile, .. } = won;
        Words::new(
            format!("seat {seat} wins with {tile}: {faan} faan"),
            format!("座位 {seat} 和 {tile}：{faan} 番"),
        )
    }));
    Scene {
        areas: vec![hand(above), river(above), river(below), hand(below)],
        captions,
    }
}

fn area((english, chinese): (&str, &str), seat: Seat, cells: Vec<Cell>) -> Area {
    Area {
        label: Words::new(
            format!("seat {seat}: {english}"),
            format!("座位 {seat}：{chinese}"),
        ),
        seat: Some(seat),
        shape: Shape::Row,
        cells,
    }
}

/// A hand and, marked, the tile that has just come to it.
fn tiles(hand: impl Iterator<Item = Tile>, new: Option<Tile>) -> Vec<Cell> {
    let cell = |tile: Tile| Cell::new(piece(tile)).says(tile.to_string());
    hand.map(cell)
        .chain(new.map(|tile| cell(tile).marked(true)))
        .collect()
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
