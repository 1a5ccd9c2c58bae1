//! The drawing of the game.

use referee_core::{Area, CardSuit, Cell, Hidden, Piece, Scene, Seat, Shape, Words};

use super::{
    card::{Card, Cards, DECK, Order, Suit},
    round::{Move, Public, SEATS, SeatStanding},
};

pub(super) fn scene(public: &Public, private: &[(Seat, &Cards)]) -> Scene {
    // The seat that looks is the nearest; seat 0 if everything is visible.
    let nearest = match private {
        [(seat, _)] => *seat,
        _ => Seat::new(0),
    };
    let mut areas = vec![trick(public)];
    for seat in Seat::all(SEATS) {
        let open = private.iter().find(|(whose, _)| *whose == seat);
        areas.push(Area {
            label: label(public, seat),
            seat: Some(seat),
            shape: Shape::Row,
            cells: match open {
                Some((_, hand)) => hand
                    .iter()
                    .map(|card| face(card).says(card.to_string()))
                    .collect(),
                None => vec![
                    Cell::new(Piece::FaceDown { of: Hidden::Card });
                    public.cards_left[seat.index()].into()
                ],
            },
        });
    }
    let mut captions = Vec::new();
    if public.rules.reversal {
        captions.push(match public.order {
            Order::Normal => Words::new(
                "order: normal, 3 is low and 2 is high",
                "大小顺序：正常，3 最小，2 最大",
            ),
            Order::Reversed => Words::new(
                "order: reversed, 2 is low and 3 is high",
                "大小顺序：反转，2 最小，3 最大",
            ),
        });
    }
    if let Some((seat, did)) = public.last {
        captions.push(match did {
            Move::Play(cards) => Words::new(
                format!("last: seat {seat} played {cards}"),
                format!("上一手：座位 {seat} 出 {cards}"),
            ),
            Move::Pass => Words::new(
                format!("last: seat {seat} passed"),
                format!("上一手：座位 {seat} 过牌"),
            ),
        });
    }
    Scene {
        areas,
        captions,
        nearest: Some(nearest),
    }
}

/// The play to beat.
fn trick(public: &Public) -> Area {
    let (label, cards) = match public.trick {
        Some(trick) if public.is_over() => (
            Words::new(
                format!("the last play, by seat {}", trick.by),
                format!("最后一手：座位 {}", trick.by),
            ),
            trick.play.cards(),
        ),
        Some(trick) => (
            Words::new(
                format!("to beat, by seat {}", trick.by),
                format!("要压过的牌：座位 {}", trick.by),
            ),
            trick.play.cards(),
        ),
        None => (Words::new("nothing to beat", "任意出牌"), Cards::NONE),
    };
    Area {
        label,
        seat: None,
        shape: Shape::Row,
        cells: cards.iter().map(face).collect(),
    }
}

fn label(public: &Public, seat: Seat) -> Words {
    let left = public.cards_left[seat.index()];
    let cards = if left == 1 { "card" } else { "cards" };
    let (english, chinese) = match public.standing[seat.index()] {
        SeatStanding::Out(place) => (
            format!("out, place {place}"),
            format!("已出完，第 {place} 名"),
        ),
        SeatStanding::Forfeited(place) => (
            format!("{left} {cards}, forfeited, place {place}"),
            format!("{left} 张，弃权，第 {place} 名"),
        ),
        SeatStanding::InPlay if public.turn == Some(seat) => (
            format!("{left} {cards}, to play"),
            format!("{left} 张，正在出牌"),
        ),
        SeatStanding::InPlay => (format!("{left} {cards}"), format!("{left} 张")),
    };
    Words::new(
        format!("seat {seat}: {english}"),
        format!("座位 {seat}：{chinese}"),
    )
}

fn face(card: Card) -> Cell {
    Cell::new(match (card.rank(), card.suit()) {
        (Some(rank), Some(suit)) => Piece::Card {
            rank: rank.face(),
            suit: match suit {
                Suit::Clubs => CardSuit::Clubs,
                Suit::Diamonds => CardSuit::Diamonds,
                Suit::Hearts => CardSuit::Hearts,
                Suit::Spades => CardSuit::Spades,
            },
        },
        // The jokers are the last two cards.
        _ => Piece::Joker {
            number: card.index() + 3 - DECK,
        },
    })
}
