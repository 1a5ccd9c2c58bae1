//! How the game is drawn.

use referee_core::{Area, CardSuit, Cell, Hidden, Piece, Scene, Seat, Shape};

use super::{
    card::{Card, Cards, Order, Suit},
    round::{Move, Public, SEATS, Standing},
};

pub(super) fn scene(public: &Public, private: &[(Seat, &Cards)]) -> Scene {
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
            Order::Normal => "order: normal, 3 is low and 2 is high".to_owned(),
            Order::Reversed => "order: reversed, 2 is low and 3 is high".to_owned(),
        });
    }
    if let Some((seat, did)) = public.last {
        captions.push(match did {
            Move::Play(cards) => format!("last: seat {seat} played {cards}"),
            Move::Pass => format!("last: seat {seat} passed"),
        });
    }
    Scene { areas, captions }
}

/// The play to beat.
fn trick(public: &Public) -> Area {
    let (label, seat, cards) = match public.trick {
        Some(trick) => (
            format!("to beat, by seat {}", trick.by),
            Some(trick.by),
            trick.play.cards(),
        ),
        None => ("nothing to beat".to_owned(), None, Cards::NONE),
    };
    Area {
        label,
        seat,
        shape: Shape::Row,
        cells: cards.iter().map(|card| face(card).marked(true)).collect(),
    }
}

fn label(public: &Public, seat: Seat) -> String {
    let left = match public.cards_left[seat.index()] {
        1 => "1 card".to_owned(),
        left => format!("{left} cards"),
    };
    let how = match public.standing[seat.index()] {
        Standing::Out(place) => format!("out, place {place}"),
        Standing::Forfeited(place) => format!("{left}, forfeited, place {place}"),
        Standing::InPlay if public.turn == Some(seat) => format!("{left}, to play"),
        Standing::InPlay => left,
    };
    format!("seat {seat}: {how}")
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
        _ => Piece::Joker,
    })
}
