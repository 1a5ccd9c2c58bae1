//! Beginnings that a bot should be able to handle.

use referee_core::Trial;

pub(super) const TRIALS: &[Trial] = &[
    Trial {
        name: "a deal by chance",
        setup: r#"{}"#,
    },
    Trial {
        name: "no reversal",
        setup: r#"{"reversal":false}"#,
    },
    Trial {
        name: "a round that is paid for",
        setup: r#"{"scoring":"payout"}"#,
    },
    Trial {
        name: "a four of a kind in every hand, three times",
        setup: r#"{"hands": ["3C 3D 3H 3S 7C 7D 7H 7S JC JD JH JS AC JK1", "4C 4D 4H 4S 8C 8D 8H 8S QC QD QH QS AD JK2", "5C 5D 5H 5S 9C 9D 9H 9S KC KD KH KS AH", "6C 6D 6H 6S 10C 10D 10H 10S 2C 2D 2H 2S AS"]}"#,
    },
    Trial {
        name: "a whole suit in every hand",
        setup: r#"{"hands": ["3C 4C 5C 6C 7C 8C 9C 10C JC QC KC AC 2C JK1", "3D 4D 5D 6D 7D 8D 9D 10D JD QD KD AD 2D JK2", "3H 4H 5H 6H 7H 8H 9H 10H JH QH KH AH 2H", "3S 4S 5S 6S 7S 8S 9S 10S JS QS KS AS 2S"]}"#,
    },
];
