//! The game with secrets has the properties of every game; the same game with a planted
//! leak fails the test.

use referee_core::{
    Seat, Seed,
    testing::{Bids, prove},
};

fn seed(i: u64) -> Seed {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&i.to_le_bytes());
    Seed::new(bytes)
}

#[test]
fn a_game_with_secrets_keeps_them() {
    for i in 0..200 {
        prove::<Bids<false>>(&(), &seed(i), Bids::<false>::write_forfeit).unwrap();
    }
}

#[test]
fn a_planted_leak_is_caught() {
    let caught = (0..20)
        .filter_map(|i| prove::<Bids<true>>(&(), &seed(i), Bids::<true>::write_forfeit).err())
        .collect::<Vec<_>>();
    assert_eq!(caught.len(), 20);
    assert!(
        caught.iter().all(|why| why.starts_with("leak: ")),
        "{caught:?}"
    );
}

/// After the first answer a new deal leaves this card where it is.
#[test]
fn a_secret_that_is_told_too_early_is_caught() {
    type Early = Bids<false, true>;
    let caught = (0..40)
        .filter_map(|i| prove::<Early>(&(), &seed(i), Early::write_forfeit).err())
        .collect::<Vec<_>>();
    // In the others the card is dealt to where it was.
    assert!(caught.len() > 25, "{}", caught.len());
    assert!(
        caught.iter().all(|why| why.starts_with("leak: call 0 ")),
        "{caught:?}"
    );
}

#[test]
fn several_seats_are_asked_at_once_and_the_order_of_answers_does_not_count() {
    use referee_core::{GameKind as _, ListedGame, TableStep};

    let kind = ListedGame::<Bids<false>>::new();
    let outcome = |order: [u8; 3]| {
        let mut table = kind.deal(&serde_json::Value::Null, &seed(7)).unwrap();
        loop {
            match table.step() {
                TableStep::Tell(seats) => assert_eq!(seats.len(), 3),
                TableStep::Over(outcome) => return outcome,
                TableStep::Ask(seats) => {
                    assert_eq!(seats.len(), 3);
                    for seat in order.map(Seat::new) {
                        let (_, answer) = table.legal(seat).swap_remove(0);
                        table.answer(seat, &answer).unwrap();
                    }
                    table.resolve();
                }
            }
        }
    };
    let first = outcome([0, 1, 2]);
    assert_eq!(outcome([2, 1, 0]), first);
    assert_eq!(outcome([1, 2, 0]), first);
}
